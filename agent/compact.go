package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/llm"
)

const (
	summaryRole     = "summary" // of a step that stands for all before it; no model sees it as such
	maxSummaryRunes = 4000
	maxShownRunes   = 1500 // of one message that is summed up
	summaryTimeout  = 60 * time.Second
)

var errNoSummary = errors.New("the model wrote no summary")

// compact keeps the conversation within half of what the model is shown, once it has outgrown that: the oldest turns give
// way to a summary that the model writes. It is one call of the model, with no tools; when it fails, a line says that
// something was left out. It runs after the reply, within the turn.
func (t *turn) compact(ctx context.Context) {
	a, budget := t.agent, t.budget()
	gone := t.conv.outgrown(budget)
	if len(gone) == 0 {
		return
	}
	summary, err := t.summarise(ctx, gone, budget)
	if err != nil {
		a.opts.Logger.WarnContext(ctx, "earlier turns are left out without a summary", "session", t.conv.id, "err", err)
		if !strings.HasSuffix(t.conv.summary, a.say("agent.left_out")) {
			summary = strings.TrimLeft(t.conv.summary+"\n"+a.say("agent.left_out"), "\n")
		} else {
			summary = t.conv.summary
		}
	}
	t.conv.summary = summary
	a.record(ctx, t.conv.id, llm.Message{Role: summaryRole, Content: summary})
	if n := len(t.conv.turns); n > 0 {
		t.conv.turns[n-1].rows++ // the summary stands behind it
	}
	a.trim(ctx, t.conv)
}

// summarise has the model sum up turns, and the summary before them.
func (t *turn) summarise(ctx context.Context, turns []pastTurn, budget int) (string, error) {
	a := t.agent
	if t.limits.OneAtATime {
		return "", errNoSummary // the planner writes none
	}
	r := llm.Request{Messages: []llm.Message{
		{Role: "system", Content: a.prompt("summary")},
		{Role: "user", Content: rounds.Fence(transcript(t.conv.summary, turns, budget/2))},
	}}
	answer, err := rounds.Ask(ctx, a.opts.Model, min(t.limits.ModelTimeout, summaryTimeout), r, nil)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(answer.Content)
	if text == "" {
		return "", errNoSummary
	}
	return a.opts.Redact.String(clipRunes(text, maxSummaryRunes)), nil
}

// transcript is turns as text of at most so many tokens, the end of it when there is more.
func transcript(before string, turns []pastTurn, tokens int) string {
	var lines []string
	if before != "" {
		lines = append(lines, "summary: "+before)
	}
	for _, turn := range turns {
		for _, m := range turn.messages {
			text := m.Content
			for _, c := range m.ToolCalls {
				text += "\n" + c.Name + " " + c.Arguments
			}
			lines = append(lines, m.Role+": "+clipRunes(strings.TrimSpace(text), maxShownRunes))
		}
	}
	size, from := 0, len(lines)
	for from > 0 {
		if size += llm.EstimateText(lines[from-1]) + 1; size > tokens {
			break
		}
		from--
	}
	return strings.Join(lines[from:], "\n")
}

func clipRunes(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// summaryMessage is what the model is shown of a summary: data, like everything that came of tools.
func (a *Agent) summaryMessage(summary string) llm.Message {
	return llm.Message{Role: "user", Content: a.say("agent.summary") + "\n" + rounds.Fence(summary)}
}

// takeSummaries takes the summaries out of a conversation as it was kept, and gives the newest.
func takeSummaries(steps []llm.Message) (rest []llm.Message, newest string) {
	for _, m := range steps {
		if m.Role == summaryRole {
			newest = m.Content
			continue
		}
		rest = append(rest, m)
	}
	return rest, newest
}

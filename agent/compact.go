package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/llm"
)

const (
	summaryRole     = "summary" // of a step that stands for all before it; no model sees it as such
	maxSummaryRunes = 4000
	maxShownRunes   = 1500 // of one message that is summed up
	summaryTokens   = 4096 // that the model may write, its reasoning included
	summaryTimeout  = 60 * time.Second
)

var errNoSummary = errors.New("the model wrote no summary")

// compact keeps the conversation within half of what the model is shown, once it has outgrown that: the oldest turns give
// way to a summary. It runs within the turn, after the reply; before the first call of the model only when the
// conversation was loaded longer than it may be. A cancelled one changes nothing: the next turn does it.
func (t *turn) compact(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	before := t.conv.turns
	gone := t.conv.outgrown(t.budget())
	if len(gone) == 0 {
		return
	}
	var messages []llm.Message
	for _, turn := range gone {
		messages = append(messages, turn.messages...)
	}
	summary := t.summary(ctx, t.conv.summary, messages)
	if ctx.Err() != nil {
		t.conv.turns = before
		return
	}
	t.conv.summary = summary
	t.agent.record(ctx, t.conv.id, llm.Message{Role: summaryRole, Content: summary})
	if n := len(t.conv.turns); n > 0 {
		t.conv.turns[n-1].rows++ // the summary stands behind it
		t.agent.trim(ctx, t.conv, 0)
		return
	}
	t.agent.trim(ctx, t.conv, 1)
}

// digest stands for messages that the model is not shown any more.
type digest struct {
	text string // empty: nothing is missing
	at   int    // where it is in turn.shown
}

// fit makes what is shown shorter than a number of tokens. Where whole rounds have to go, so many go that it does not
// happen again at once, and a summary takes their place.
func (t *turn) fit(ctx context.Context, tokens int) {
	if llm.Estimate(t.shown...) <= tokens {
		return
	}
	all, start := slices.Clone(t.shown), t.start
	if t.gap.text != "" { // it becomes part of the next one
		all = slices.Delete(all, t.gap.at, t.gap.at+1)
		if t.gap.at < start {
			start--
		}
	}
	room := tokens - llm.EstimateText(t.gap.text)
	out, dropped, _ := rounds.Shorten(all, start, room)
	if len(dropped) > 0 {
		newest := llm.Estimate(all[0]) + llm.Estimate(rounds.Newest(all)...) // is not cut for the sake of later rounds
		var gap int
		out, dropped, gap = rounds.Shorten(all, start, min(room, max(room/2, newest+room/4)))
		t.gap.text = t.summary(ctx, t.gap.text, dropped)
		t.gap.at = gap
	}
	t.start = max(1, start-(len(all)-len(out)))
	if t.gap.text != "" {
		out = slices.Insert(out, t.gap.at, t.agent.digestMessage(t.gap.text))
		if t.gap.at <= t.start {
			t.start++
		}
	}
	t.shown = out
}

// summary is what stands for messages, and the summary before them, from now on: the model's words, or a line that says
// that something was left out when there are none.
func (t *turn) summary(ctx context.Context, before string, messages []llm.Message) string {
	a := t.agent
	text, err := t.summarise(ctx, before, messages)
	if err == nil {
		return text
	}
	a.opts.Logger.WarnContext(ctx, "earlier messages are left out without a summary", "session", t.conv.id, "messages", len(messages), "err", err)
	if strings.HasSuffix(before, a.say("agent.left_out")) {
		return before
	}
	return strings.TrimLeft(before+"\n"+a.say("agent.left_out"), "\n")
}

// summarise has the model sum up messages, and the summary before them: one call, with no tools.
func (t *turn) summarise(ctx context.Context, before string, messages []llm.Message) (string, error) {
	a := t.agent
	if t.limits.OneAtATime {
		return "", errNoSummary // the planner writes none
	}
	r := llm.Request{MaxTokens: summaryTokens, Messages: []llm.Message{
		{Role: "system", Content: a.prompt("summary")},
		{Role: "user", Content: rounds.Fence(transcript(before, messages, t.budget()/2))},
	}}
	answer, err := rounds.Ask(ctx, a.opts.Model, min(t.limits.ModelTimeout, summaryTimeout), r, nil)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(answer.Content)
	if text == "" {
		return "", errNoSummary
	}
	// Within a quarter of the room, however small that is set: a summary must not be what makes things too long.
	return a.opts.Redact.String(clipRunes(text, min(maxSummaryRunes, max(200, t.budget()/4)))), nil
}

// transcript is messages as text of at most so many tokens, the end of it when there is more.
func transcript(before string, messages []llm.Message, tokens int) string {
	var lines []string
	if before != "" {
		lines = append(lines, "summary: "+before)
	}
	for _, m := range messages {
		text := m.Content
		for _, c := range m.ToolCalls {
			text += "\n" + c.Name + " " + c.Arguments
		}
		lines = append(lines, m.Role+": "+clipRunes(strings.TrimSpace(text), maxShownRunes))
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

// digestMessage is what the model is shown of a summary: data, like everything that came of tools.
func (a *Agent) digestMessage(summary string) llm.Message {
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

package agent

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/llm"
)

// Step is one message of a conversation as it is kept.
type Step struct {
	Role string
	JSON json.RawMessage // an llm.Message
	Time time.Time       // zero: now
}

// History keeps conversations. It is safe for concurrent use.
type History interface {
	// LoadHistory gives a conversation, oldest message first; none for a session that is not known.
	LoadHistory(ctx context.Context, session string) ([]Step, error)
	// AppendHistory adds messages to the end. What it took is there after the death of the process.
	AppendHistory(ctx context.Context, session string, steps []Step) error
	// TrimHistory forgets all but the newest keep messages.
	TrimHistory(ctx context.Context, session string, keep int) error
}

// lost answers the calls that were running, or waiting, when the process died.
const lost = `{"success":false,"status":"interrupted","error":"maishell was restarted while this ran; whether it took effect is not known: look before you repeat it"}`

// load brings back what was kept of the conversation, once. Only the running turn calls it.
func (a *Agent) load(ctx context.Context, conv *conversation) {
	if a.opts.History == nil || conv.loaded {
		return
	}
	steps, err := a.opts.History.LoadHistory(ctx, conv.id)
	if err != nil {
		a.opts.Logger.WarnContext(ctx, "conversation not loaded", "session", conv.id, "err", err)
		return
	}
	conv.loaded = true
	var messages []llm.Message
	for _, s := range steps {
		var m llm.Message
		if err := json.Unmarshal(s.JSON, &m); err != nil {
			a.opts.Logger.WarnContext(ctx, "message not loaded", "session", conv.id, "err", err)
			continue
		}
		messages = append(messages, m)
	}
	all := len(messages)
	messages, conv.summary = takeSummaries(messages)
	summaries := all - len(messages)
	messages = rounds.Repair(messages, lost)
	if n := len(messages); n > 0 && !final(messages[n-1]) {
		// The turn that the process died in gets an end, so that it stays apart from the next one.
		end := llm.Message{Role: "assistant", Content: a.say("agent.interrupted")}
		messages = append(messages, end)
		a.record(ctx, conv.id, end)
	}
	conv.turns = split(messages)
	if len(conv.turns) > 0 {
		conv.turns[0].rows += summaries // where they stand does not matter: rather one row too many is kept
	}
}

// final tells whether a message ends a turn.
func final(m llm.Message) bool { return m.Role == "assistant" && len(m.ToolCalls) == 0 }

// split cuts a conversation into its turns. What stands before the first message of the user is the rest of a turn whose
// beginning was forgotten.
func split(messages []llm.Message) []pastTurn {
	for len(messages) > 0 && messages[0].Role != "user" {
		messages = messages[1:]
	}
	var turns []pastTurn
	begin := 0
	for i := range messages {
		if final(messages[i]) {
			turns = append(turns, pastTurn{messages: messages[begin : i+1], rows: i + 1 - begin})
			begin = i + 1
		}
	}
	return turns
}

// record keeps messages. A conversation that cannot be kept still goes on.
func (a *Agent) record(ctx context.Context, session string, messages ...llm.Message) {
	if a.opts.History == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	steps := make([]Step, 0, len(messages))
	for i := range messages {
		text, err := json.Marshal(a.withoutSecrets(messages[i]))
		if err != nil {
			a.opts.Logger.WarnContext(ctx, "message not kept", "session", session, "err", err)
			return
		}
		steps = append(steps, Step{Role: messages[i].Role, JSON: text})
	}
	if err := a.opts.History.AppendHistory(ctx, session, steps); err != nil {
		a.opts.Logger.WarnContext(ctx, "message not kept", "session", session, "err", err)
	}
}

// withoutSecrets is a message as it may be kept. The model goes on with what was said; the disk has no need of it.
func (a *Agent) withoutSecrets(m llm.Message) llm.Message {
	m.Content = a.opts.Redact.String(m.Content)
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range m.ToolCalls {
		m.ToolCalls[i].Arguments = a.opts.Redact.String(m.ToolCalls[i].Arguments)
	}
	return m
}

// trim forgets what the conversation does not show any more. more: messages to keep beside those of its turns.
func (a *Agent) trim(ctx context.Context, conv *conversation, more int) {
	if a.opts.History == nil {
		return
	}
	keep := more
	for _, turn := range conv.turns {
		keep += turn.rows
	}
	if err := a.opts.History.TrimHistory(context.WithoutCancel(ctx), conv.id, keep); err != nil {
		a.opts.Logger.WarnContext(ctx, "old messages not forgotten", "session", conv.id, "err", err)
	}
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/tools"
)

// turn is one message on its way to a reply.
type turn struct {
	agent  *Agent
	in     channels.Message
	view   *tools.View
	out    channels.Sink
	conv   *conversation
	limits Limits
	shown  []llm.Message // what the model is shown: system prompt, earlier turns, this one; shortened where it had to be
	start  int           // where this turn begins in shown
	gap    digest        // what stands in shown for what was dropped from it
	now    []llm.Message // this turn so far, whole
	calls  int           // tool calls of this turn
}

// turn runs one turn to its outcome, after the earlier turns of the session, or hands the message to the running one. The
// error is the sink's.
func (a *Agent) turn(ctx context.Context, m channels.Message, out channels.Sink) (Outcome, error) {
	conv := a.sessions.get(m.Origin.Session)
	defer a.sessions.release(conv)
	o := a.sessions.offer(conv, m)
	select {
	case conv.turn <- struct{}{}:
		defer func() { <-conv.turn }()
	case <-o.taken:
	case <-ctx.Done():
	}
	if !a.sessions.withdraw(conv, o) {
		return Finished, out.Notice(ctx, a.say("agent.joined"))
	}
	if ctx.Err() != nil {
		return Cancelled, out.Reply(context.WithoutCancel(ctx), a.say("agent.cancelled"))
	}
	return a.run(ctx, conv, m, out)
}

// run runs a turn whose time has come, and tells its end.
func (a *Agent) run(ctx context.Context, conv *conversation, m channels.Message, out channels.Sink) (Outcome, error) {
	begun := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.sessions.run(conv, &running{origin: m.Origin, cancel: cancel, begun: begun})
	defer a.sessions.run(conv, nil)
	t := &turn{
		agent: a, in: m, view: a.opts.Tools.View(m.Origin), out: out, conv: conv, limits: a.opts.Limits().withDefaults(),
	}
	t.begin(ctx)
	outcome, reply, count, cause := t.run(ctx)
	reply = a.opts.Redact.String(reply)
	t.add(ctx, llm.Message{Role: "assistant", Content: reply})
	conv.remember(t.now, t.budget(), a.digestMessage(cmp.Or(t.gap.text, a.say("agent.left_out"))))
	level := slog.LevelInfo
	if outcome == Failed {
		level = slog.LevelWarn
	}
	a.opts.Logger.Log(ctx, level, "turn ended", "session", m.Origin.Session, "outcome", string(outcome), "rounds", count,
		"tool_calls", t.calls, "duration", time.Since(begun), "err", cause)
	// The person is told also when the turn was cancelled.
	err := out.Reply(context.WithoutCancel(ctx), reply)
	t.compact(ctx)
	return outcome, err
}

// begin collects what the model is shown, and keeps the message.
func (t *turn) begin(ctx context.Context) {
	t.agent.load(ctx, t.conv)
	t.compact(ctx) // what was kept may be longer than what may be shown now
	t.shown = []llm.Message{{Role: "system", Content: t.agent.prompt("system")}}
	if t.conv.summary != "" {
		t.shown = append(t.shown, t.agent.digestMessage(t.conv.summary))
	}
	for _, earlier := range t.conv.turns {
		t.shown = append(t.shown, earlier.messages...)
	}
	t.start = len(t.shown)
	if !t.limits.OneAtATime { // the planner looks at nothing but the question
		for _, e := range t.agent.sessions.notes(t.conv) {
			t.add(ctx, e[0], e[1])
		}
	}
	// A model's wire format is UTF-8; whoever needs the bytes as they came is a chat command and has them.
	t.add(ctx, llm.Message{Role: "user", Content: strings.ToValidUTF8(t.in.Text, "\uFFFD")})
}

// add appends messages to the turn and keeps them.
func (t *turn) add(ctx context.Context, m ...llm.Message) {
	t.now = append(t.now, m...)
	t.shown = append(t.shown, m...)
	t.agent.record(ctx, t.conv.id, m...)
}

// run asks the model until it answers without a tool call. cause is why the turn did not finish.
func (t *turn) run(ctx context.Context) (outcome Outcome, reply string, count int, cause error) {
	a := t.agent
	for count = 1; count <= t.limits.Rounds; count++ {
		a.sessions.progress(t.conv, func(r *running) { r.round = count })
		if count > 1 && !t.limits.OneAtATime {
			t.join(ctx)
		}
		answer, err := t.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return Cancelled, a.say("agent.cancelled"), count, ctx.Err()
		case errors.Is(err, llm.ErrContextTooLong):
			return Failed, a.say("agent.too_long"), count, err
		case err != nil:
			return Failed, a.say("agent.model_failed", a.opts.Texts().Error(err)), count, err
		case len(answer.ToolCalls) == 0:
			outcome, reply = t.conclude(answer)
			return outcome, reply, count, nil
		}
		t.perform(ctx, answer)
		if ctx.Err() != nil {
			return Cancelled, a.say("agent.cancelled"), count, ctx.Err()
		}
	}
	return MaxRounds, a.say("agent.max_rounds", t.limits.Rounds), t.limits.Rounds, nil
}

// join takes what the person said since into the turn.
func (t *turn) join(ctx context.Context) {
	texts := t.agent.sessions.take(t.conv, t.in.Origin)
	if i, ok := t.out.(channels.Interjecter); ok {
		texts = append(texts, i.Interjected(func(text string) bool { return !t.agent.isCommand(text) })...)
	}
	for _, text := range texts {
		t.add(ctx, llm.Message{Role: "user", Content: text})
	}
}

// failedMark is how the prompt tells a model to begin an answer that says why the task was not done.
const failedMark = "FAILED:"

// conclude turns the model's last answer into the end of the turn.
func (t *turn) conclude(answer llm.Message) (Outcome, string) {
	outcome, reply := Finished, answer.Content
	text := strings.TrimSpace(reply)
	switch {
	case text == "":
		reply = t.agent.say("agent.empty")
	case strings.HasPrefix(text, failedMark):
		outcome = Failed
	}
	if answer.Truncated {
		reply = strings.TrimLeft(strings.TrimRight(answer.Content, "\n")+"\n"+t.agent.say("agent.truncated"), "\n")
	}
	return outcome, reply
}

// leastFits is the least that a model is believed to take, in tokens: a service that calls everything too long must not
// cost the conversation.
const leastFits = 2000

// ask is one call of the model, with the tools that the caller's role allows at this moment. A conversation that is too
// long for the model is made shorter, and tried once more.
func (t *turn) ask(ctx context.Context) (llm.Message, error) {
	t.fit(ctx, t.budget())
	answer, err := t.complete(ctx)
	if errors.Is(err, llm.ErrContextTooLong) && ctx.Err() == nil {
		t.conv.fits = max(leastFits, llm.Estimate(t.shown...)/2)
		t.agent.opts.Logger.WarnContext(ctx, "the conversation is too long for the model", "session", t.conv.id,
			"tokens", llm.Estimate(t.shown...), "now", t.conv.fits)
		t.fit(ctx, t.conv.fits)
		answer, err = t.complete(ctx)
	}
	if err == nil && answer.Usage.Prompt > 0 {
		t.conv.extra = max(0, answer.Usage.Prompt-llm.Estimate(t.shown...))
	}
	return answer, err
}

// budget is how many tokens, by Estimate, the conversation may have.
func (t *turn) budget() int {
	tokens := max(t.limits.ContextTokens-t.conv.extra, t.limits.ContextTokens/4)
	if t.conv.fits > 0 {
		tokens = min(tokens, t.conv.fits)
	}
	return tokens
}

func (t *turn) complete(ctx context.Context) (llm.Message, error) {
	lang := t.agent.opts.Texts().Lang()
	var specs []llm.ToolSpec
	for _, tool := range t.view.List() {
		specs = append(specs, llm.ToolSpec{Name: tool.Name, Description: tool.Description(lang), Parameters: tool.Parameters()})
	}
	onText, flush := t.stream(ctx)
	r := llm.Request{Messages: append([]llm.Message(nil), t.shown...), Tools: specs}
	answer, err := rounds.Ask(ctx, t.agent.opts.Model, t.limits.ModelTimeout, r, onText)
	flush()
	return answer, err
}

// stream is where the pieces of a reply go, if the channel can show them, and what shows the last of them.
func (t *turn) stream(ctx context.Context) (onText func(string), flush func()) {
	s, ok := t.out.(channels.Streamer)
	if !ok {
		return nil, func() {}
	}
	show := func(text []byte) {
		if len(text) == 0 {
			return
		}
		if err := s.Stream(ctx, string(text)); err != nil {
			t.agent.opts.Logger.Warn("text not shown", "session", t.conv.id, "err", err)
		}
	}
	filter := t.agent.opts.Redact.Stream()
	return func(piece string) { show(filter.Write([]byte(piece))) }, func() { show(filter.Flush()) }
}

// perform runs the tool calls of one answer. Each is answered in the history.
func (t *turn) perform(ctx context.Context, answer llm.Message) {
	answer.Role = "assistant"
	answer.ToolCalls = rounds.WithIDs(answer.ToolCalls, t.calls)
	t.calls += len(answer.ToolCalls)
	t.agent.sessions.progress(t.conv, func(r *running) { r.calls = t.calls })
	t.add(ctx, answer)
	if text := strings.TrimSpace(answer.Content); text != "" {
		t.notice(ctx, text)
	}
	several := len(answer.ToolCalls) > 1
	results := rounds.Perform(ctx, answer.ToolCalls, t.limits.ParallelTools, func(ctx context.Context, call llm.ToolCall) string {
		result := t.invoke(ctx, call, several)
		// At once, so that a crash in another call of the round does not lose it.
		t.agent.record(ctx, t.conv.id, rounds.Answer(call, result))
		return result
	})
	for _, r := range results {
		if r.Content == rounds.Fence(rounds.Cancelled) { // never begun, so not recorded yet
			t.agent.record(ctx, t.conv.id, r)
		}
	}
	t.now = append(t.now, results...)
	t.shown = append(t.shown, results...)
}

// invoke is one tool call through the pipeline, which also words malformed arguments and unknown names. named: the notice
// of the result says whose it is.
func (t *turn) invoke(ctx context.Context, call llm.ToolCall, named bool) string {
	begun, name := time.Now(), t.toolLine(call)
	t.notice(ctx, t.agent.say("agent.tool_start", name))
	ctx = context.WithValue(ctx, turnKey{}, t)
	peek, stop := channels.Watch(t.out, name)
	result := t.view.Invoke(ctx, tools.Call{
		Origin: t.in.Origin, Name: call.Name, Args: json.RawMessage(call.Arguments), Live: peek,
	})
	stop()
	text := string(result.JSON())
	line := t.resultLine(text, time.Since(begun))
	if named {
		line = t.agent.say("agent.tool_of", name) + "\n" + line
	}
	t.notice(ctx, line)
	return text
}

type turnKey struct{}

// notice shows progress. A channel that fails to show it will fail at the reply too, where it counts.
func (t *turn) notice(ctx context.Context, text string) {
	if err := t.out.Notice(ctx, t.agent.opts.Redact.String(text)); err != nil {
		t.agent.opts.Logger.Warn("notice not shown", "session", t.in.Origin.Session, "err", err)
	}
}

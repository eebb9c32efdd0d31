package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
)

// child is one sub-agent at work.
type child struct {
	*handler

	origin session.Origin
	view   *tools.View
	limits Settings
	calls  int
}

// end is what came of a sub-agent.
type end struct {
	answer    string
	rounds    int  // model calls that were answered
	limited   bool // it had no answer within MaxRounds
	cancelled bool
	err       error // of the model
	words     string
}

// run asks the model until it answers without a tool call.
func (c *child) run(ctx context.Context, intent string) end {
	begun := time.Now()
	r := c.loop(ctx, intent)
	r.answer = c.clip(r.answer)
	c.opts.Logger.InfoContext(ctx, "sub-agent ended", "session", c.origin.Session, "parent", c.origin.Parent,
		"rounds", r.rounds, "tool_calls", c.calls, "duration", time.Since(begun), "cancelled", r.cancelled, "err", r.err)
	return r
}

func (c *child) loop(ctx context.Context, intent string) end {
	if !c.gate.enter(ctx, c.origin.Parent, c.limits.MaxParallel) {
		return end{cancelled: true}
	}
	defer c.gate.leave(c.origin.Parent)
	messages := []llm.Message{
		{Role: "system", Content: c.prompts[c.opts.Texts().Lang()]},
		{Role: "user", Content: intent},
	}
	var r end
	for r.rounds < c.limits.MaxRounds {
		answer, shown, err := c.ask(ctx, messages)
		switch {
		case ctx.Err() != nil:
			r.cancelled = true
			return r
		case err != nil:
			r.err, r.words = err, c.opts.Texts().Error(err)
			return r
		}
		messages = shown
		r.rounds++
		if text := strings.TrimSpace(answer.Content); text != "" {
			r.answer = text
		}
		if len(answer.ToolCalls) == 0 {
			return r
		}
		answer.Role = "assistant"
		answer.ToolCalls = rounds.WithIDs(answer.ToolCalls, c.calls)
		c.calls += len(answer.ToolCalls)
		messages = append(messages, answer)
		messages = append(messages, rounds.Perform(ctx, answer.ToolCalls, c.limits.ParallelTools, c.invoke)...)
		if ctx.Err() != nil {
			r.cancelled = true
			return r
		}
	}
	r.limited = true
	return r
}

// ask is one call of the model, with a conversation that was made to fit, which it returns.
func (c *child) ask(ctx context.Context, messages []llm.Message) (llm.Message, []llm.Message, error) {
	if llm.Estimate(messages...) > c.limits.ContextTokens {
		messages = c.shorten(messages, c.limits.ContextTokens)
	}
	answer, err := c.complete(ctx, messages)
	if errors.Is(err, llm.ErrContextTooLong) && ctx.Err() == nil {
		messages = c.shorten(messages, llm.Estimate(messages...)/2)
		answer, err = c.complete(ctx, messages)
	}
	return answer, messages, err
}

// shorten makes a conversation fit. Where rounds are gone stands that they are.
func (c *child) shorten(messages []llm.Message, tokens int) []llm.Message {
	const turn = 1 // the intent stays
	mark := llm.Message{Role: "user", Content: rounds.Fence(c.opts.Texts().Say("subagent.left_out"))}
	shorter, dropped, gap := rounds.Shorten(messages, turn, tokens)
	marked := slices.ContainsFunc(shorter, func(m llm.Message) bool { return m.Role == mark.Role && m.Content == mark.Content })
	if len(dropped) > 0 && !marked {
		shorter = slices.Insert(shorter, gap, mark)
	}
	return shorter
}

func (c *child) complete(ctx context.Context, messages []llm.Message) (llm.Message, error) {
	lang := c.opts.Texts().Lang()
	var specs []llm.ToolSpec
	for _, tool := range c.view.List() {
		specs = append(specs, llm.ToolSpec{Name: tool.Name, Description: tool.Description(lang), Parameters: tool.Parameters()})
	}
	r := llm.Request{Messages: append([]llm.Message(nil), messages...), Tools: specs}
	return rounds.Ask(ctx, c.opts.Model, c.limits.ModelTimeout, r, nil)
}

// invoke is one tool call. One of a tool outside the set goes through the pipeline too, which refuses and records it.
func (c *child) invoke(ctx context.Context, call llm.ToolCall) string {
	_, err := c.view.Find(call.Name)
	result := c.view.Invoke(ctx, tools.Call{Origin: c.origin, Name: call.Name, Args: json.RawMessage(call.Arguments)})
	if err != nil && !result.Success() {
		result.Error = c.opts.Texts().Say("subagent.not_allowed", tools.Clip(call.Name, 80))
	}
	return string(result.JSON())
}

// clip cuts an answer that is too long.
func (c *child) clip(answer string) string {
	runes := []rune(answer)
	if len(runes) <= c.limits.MaxResultChars {
		return answer
	}
	return string(runes[:c.limits.MaxResultChars]) + c.opts.Texts().Say("subagent.truncated")
}

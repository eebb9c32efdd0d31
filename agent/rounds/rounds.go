package rounds

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/maishell/maishell/llm"
)

// Ask is one call of a model within a time limit. A model is a client of somebody else's service: its mistakes,
// panics too, are errors here.
func Ask(ctx context.Context, m llm.Model, limit time.Duration, r llm.Request, onText func(string)) (answer llm.Message, err error) {
	timeUp := &llm.Error{Code: "llm.timeout", Args: []any{limit}}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeUp)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("model %s: panic: %v", m.Name(), p)
		}
	}()
	answer, err = m.Complete(ctx, r, onText)
	if err != nil && errors.Is(context.Cause(ctx), error(timeUp)) {
		err = timeUp
	}
	return answer, err
}

// Cancelled answers calls that the end of the turn left undone.
const Cancelled = `{"success":false,"status":"cancelled","error":"the turn was cancelled; this was not run"}`

// Perform runs the calls of one answer, at most parallel at once, and returns their answers in the order of the calls.
// Once ctx is done, calls that have not begun are answered without being run.
func Perform(ctx context.Context, calls []llm.ToolCall, parallel int, invoke func(context.Context, llm.ToolCall) string) []llm.Message {
	out := make([]llm.Message, len(calls))
	slots := make(chan struct{}, max(1, parallel))
	var all sync.WaitGroup
	for i, call := range calls {
		slots <- struct{}{} // every call gives its slot back, also when it is cancelled
		content := Cancelled
		if ctx.Err() != nil {
			out[i] = Answer(call, content)
			<-slots
			continue
		}
		all.Go(func() {
			defer func() { <-slots }()
			out[i] = Answer(call, invoke(ctx, call))
		})
	}
	all.Wait()
	return out
}

// Answer is the message that answers a call with a result, which must be JSON on one line.
func Answer(call llm.ToolCall, result string) llm.Message {
	return llm.Message{Role: "tool", ToolCallID: call.ID, Name: call.Name, Content: Fence(result)}
}

// WithIDs makes the ids of calls unique within the turn where a model left them out or repeated them; before is how many
// calls the turn had already.
func WithIDs(calls []llm.ToolCall, before int) []llm.ToolCall {
	out := make([]llm.ToolCall, len(calls))
	seen := map[string]bool{"": true}
	for i, c := range calls {
		for n := before + i + 1; seen[c.ID]; n++ {
			c.ID = fmt.Sprintf("call-%d", n)
		}
		seen[c.ID] = true
		out[i] = c
	}
	return out
}

const (
	fenceOpen  = "<data>\n"
	fenceClose = "\n</data>"
)

// closing is what would end the fence.
var closing = regexp.MustCompile(`(?i)</(\s*data)`)

// Fence marks a tool's result as data for the model. The result is JSON on one line; within its strings the closing mark
// is written <\/data>, which means the same in JSON, so that no output can end the fence.
func Fence(result string) string {
	return fenceOpen + closing.ReplaceAllString(result, `<\/$1`) + fenceClose
}

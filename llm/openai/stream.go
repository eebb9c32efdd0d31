package openai

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/maishell/maishell/llm"
)

// Bounds of one answer.
const (
	maxEmptyLines = 1 << 20 // lines without data in a row: services send them to keep the connection alive
	maxCalls      = 128
	maxKept       = 4 << 20 // bytes of text and tool calls together: no conversation could take more
	maxName       = 256     // bytes of a tool's name, or of a call's id
)

var (
	// errCut: the stream ended without saying that the answer is complete.
	errCut = errors.New("the stream was cut")
	// errEmpty: a complete stream without an answer in it.
	errEmpty = errors.New("no answer in the stream")
	// errBroken: the service itself said that it gave up in the middle.
	errBroken = errors.New("the service stopped in the middle of the answer")
	// errFiltered: a content filter took the answer.
	errFiltered = errors.New("the service's content filter stopped the answer")
)

// answer is a message as it comes in.
type answer struct {
	text   strings.Builder
	think  thinking
	calls  calls
	finish api.FinishReason
	usage  llm.Usage
	some   bool // anything at all came
	size   int  // bytes of what came, reasoning in the text included
}

// assemble reads a stream to its end.
func assemble(stream *api.ChatCompletionStream, d *doer, show func(string)) (llm.Message, error) {
	var a answer
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return llm.Message{}, err
		}
		if chunk.Usage != nil {
			a.usage = llm.Usage{Prompt: chunk.Usage.PromptTokens, Completion: chunk.Usage.CompletionTokens}
		}
		for i := range chunk.Choices {
			if c := &chunk.Choices[i]; c.Index == 0 {
				if err := a.add(c, show); err != nil {
					return llm.Message{}, err
				}
			}
		}
	}
	return a.message(d.finished(), show)
}

// whole is an answer that came in one piece.
func whole(resp *api.ChatCompletionResponse, show func(string)) (llm.Message, error) {
	a := answer{usage: llm.Usage{Prompt: resp.Usage.PromptTokens, Completion: resp.Usage.CompletionTokens}}
	for i := range resp.Choices {
		c := &resp.Choices[i]
		if c.Index != 0 {
			continue
		}
		piece := api.ChatCompletionStreamChoice{FinishReason: c.FinishReason}
		piece.Delta.Content, piece.Delta.Refusal, piece.Delta.ToolCalls = c.Message.Content, c.Message.Refusal, c.Message.ToolCalls
		if err := a.add(&piece, show); err != nil {
			return llm.Message{}, err
		}
	}
	return a.message(true, show)
}

func (a *answer) add(c *api.ChatCompletionStreamChoice, show func(string)) error {
	a.some = true
	piece := c.Delta.Content + c.Delta.Refusal
	a.size += len(piece)
	for _, t := range c.Delta.ToolCalls {
		a.size += len(t.ID) + len(t.Function.Name) + len(t.Function.Arguments)
	}
	if a.size > maxKept {
		return errTooBig
	}
	if out := a.think.pass(piece); out != "" {
		a.text.WriteString(out)
		show(out)
	}
	for _, t := range c.Delta.ToolCalls {
		if err := a.calls.add(t); err != nil {
			return err
		}
	}
	if c.FinishReason != "" && c.FinishReason != api.FinishReasonNull {
		a.finish = c.FinishReason
	}
	return nil
}

// message is the whole answer, if it is whole. finished: the service said that it is.
func (a *answer) message(finished bool, show func(string)) (llm.Message, error) {
	switch {
	case !a.some && finished:
		return llm.Message{}, errEmpty
	case a.finish == "" && !finished:
		return llm.Message{}, errCut
	case a.finish == "error":
		return llm.Message{}, errBroken
	}
	if rest := a.think.rest(); rest != "" {
		a.text.WriteString(rest)
		show(rest)
	}
	m := llm.Message{
		Role: "assistant", Content: withoutThinking(a.text.String()), ToolCalls: a.calls.list(),
		Truncated: a.finish == api.FinishReasonLength, Usage: a.usage,
	}
	if len(a.calls.all) > 0 && m.Content == "" && len(m.ToolCalls) == 0 {
		return llm.Message{}, errEmpty // calls of nothing
	}
	if a.finish == api.FinishReasonContentFilter && m.Content == "" && len(m.ToolCalls) == 0 {
		return llm.Message{}, errFiltered
	}
	return m, nil
}

// calls are the tool calls of an answer, put together from their pieces.
type calls struct {
	all     []llm.ToolCall
	args    [][]byte    // of each
	byIndex map[int]int // the service's index to ours
}

var errTooManyCalls = errors.New("too many tool calls in one answer")

// add takes one piece. It belongs to the call of its index; without one to the call of its id; without either to the
// newest call, unless it has a name, which begins a new one.
func (c *calls) add(t api.ToolCall) error {
	at := -1
	switch {
	case t.Index != nil:
		if i, ok := c.byIndex[*t.Index]; ok && !c.another(i, t) {
			at = i
		}
	case t.ID != "":
		for i := range c.all {
			if c.all[i].ID == t.ID {
				at = i
			}
		}
	case t.Function.Name == "":
		at = len(c.all) - 1
	}
	if at < 0 {
		if len(c.all) == maxCalls {
			return errTooManyCalls
		}
		at = len(c.all)
		c.all = append(c.all, llm.ToolCall{})
		c.args = append(c.args, nil)
	}
	if t.Index != nil {
		if c.byIndex == nil {
			c.byIndex = map[int]int{}
		}
		c.byIndex[*t.Index] = at
	}
	call := &c.all[at]
	if t.ID != "" {
		call.ID = t.ID
	}
	if t.Function.Name != call.Name && len(call.Name) <= maxName { // some services repeat the name in every piece
		call.Name += t.Function.Name[:min(len(t.Function.Name), maxName)]
	}
	c.args[at] = append(c.args[at], t.Function.Arguments...)
	return nil
}

// another tells whether a piece begins a new call although its index was used: services exist that number every call 0.
func (c *calls) another(i int, t api.ToolCall) bool {
	call := c.all[i]
	return t.ID != "" && call.ID != "" && t.ID != call.ID && t.Function.Name != ""
}

// list is the calls that have a name; a call without one cannot be answered. An id of any length would have to be sent
// back at every round; whoever runs the calls gives those without one their own.
func (c *calls) list() []llm.ToolCall {
	var out []llm.ToolCall
	for i, call := range c.all {
		if call.Name == "" {
			continue
		}
		if len(call.ID) > maxName {
			call.ID = ""
		}
		call.Name, call.Arguments = strings.ToValidUTF8(call.Name, ""), string(c.args[i])
		out = append(out, call)
	}
	return out
}

// object is the arguments of an earlier call as services want them back: a JSON object. Many refuse the whole request
// over arguments that do not parse; what the model wrote stays readable to it.
func object(arguments string) string {
	trimmed := strings.TrimSpace(arguments)
	if trimmed == "" {
		return "{}"
	}
	if strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return trimmed
	}
	text, err := json.Marshal(map[string]string{"malformed_arguments": arguments})
	if err != nil {
		return "{}"
	}
	return string(text)
}

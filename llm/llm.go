package llm

import (
	"context"
	"encoding/json"
)

// Message is one entry of a conversation. Role is system, user, assistant or tool.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"` // role tool: the call this answers
	Name       string     `json:"name,omitempty"`         // role tool: the tool's name

	// What the model said about an answer; not part of the conversation.
	Truncated bool  `json:"-"` // it ended at the model's own length limit
	Usage     Usage `json:"-"`
}

// Usage is what an answer cost, in tokens. Zero: the model did not say.
type Usage struct {
	Prompt     int // everything it was shown
	Completion int // what it wrote, reasoning included
}

// Total is both together.
func (u Usage) Total() int { return u.Prompt + u.Completion }

// ToolCall is a model's request to run a tool. Arguments is JSON text as the model wrote it, possibly malformed.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema
}

// Request is one call of a model.
type Request struct {
	Messages []Message
	Tools    []ToolSpec
	// MaxTokens bounds what the model writes, its reasoning included; 0: the service's own limit.
	MaxTokens int
}

// Model answers a request. onText (may be nil) gets the reply's text piece by piece as it arrives; the returned
// message is whole. Errors: ctx's own, ErrContextTooLong (wrapped or not), or one that says what failed.
type Model interface {
	Name() string
	Complete(ctx context.Context, r Request, onText func(string)) (Message, error)
}

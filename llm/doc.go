// Package llm owns the one interface to a language model: messages in, one message out, text streamed on the way. It
// knows no agent, no tool and no role; what a model may ask for is decided where its tool calls are run.
//
// Invariant: an implementation returns a whole message or an error, never half a message.
package llm

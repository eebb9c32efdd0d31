// Package openai is the model behind an OpenAI-compatible HTTP service: streaming, tool calls, retries.
//
// It owns the wire: the request, the stream of pieces put together to one message, what is tried again and what is
// not, and the wording of what went wrong (codes of the texts catalog). It runs nothing a model asks for, keeps no
// conversation and never shows the key: neither an error nor a log line has it.
//
// Invariants: an answer is whole or an error; a request is tried again only while nothing of its answer was shown; the
// reasoning of a model (its own field, or a <think> block at the beginning) is never part of the answer.
package openai

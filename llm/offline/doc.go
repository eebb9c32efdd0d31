// Package offline is the model that is there when no model is configured: a deterministic planner without network. It
// owns a small vocabulary in English and Chinese, understands questions about this host (disk, memory, load,
// processes, who listens on a port, up time), asks for the tool get_system_info, and words the answer from the data
// that came back. Everything else gets a plain text that says what it can do.
//
// It never runs anything itself, never asks for a tool that was not offered, and never guesses: a text with one word
// that is not in the vocabulary is not a question it understands.
//
// Invariant: the same request always gives the same reply.
package offline

// Package agent owns a conversation: the chat commands before anything else, the rule for guests, and the turn: history
// to model, tool calls through the one pipeline, results back to the model, until it has an answer. It decides no
// permission and calls no tool's handler: whatever a model asks for goes through tools.View.Invoke with the origin of
// the message it belongs to.
//
// Invariants: turns of one session run one after another, chat commands beside them; every turn ends with exactly one
// reply and one outcome in the log; every tool call that a model made is answered in the history, also when it was
// malformed or the turn was cancelled; what a tool returned is shown to a model as fenced data, never as a system
// message.
package agent

// Package rounds owns what every loop over a model shares: one guarded call of the model, the tool calls of one round
// (in parallel, answered in the order of the calls), the fence around what tools return, the pairing of calls and
// answers, and making a conversation shorter. It keeps no conversation and reaches no tool: what runs a call is handed
// in.
//
// Invariants: every tool call of an assistant message is followed by exactly one answer; a conversation that was made
// shorter still has its system prompt and its last message of the user.
package rounds

// Package shell owns run_command: its parameters and their limits, the result that is a public contract, and the
// words for what came of a run. It never starts a process itself; the executor does.
//
// Invariant: nothing runs for a caller who is not admin at this moment, whoever calls the handler.
package shell

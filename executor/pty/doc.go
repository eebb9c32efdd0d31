// Package pty opens pseudo-terminals: the pair of which one end is a program's terminal and the other is ours, its size, and
// what a new process needs to have it as its controlling terminal.
//
// It starts no process: package executor does, and gives it what [Terminal.Attach] fills in. It knows nothing of what the
// bytes mean: package screen does.
//
// The life of one: [Open]; Attach; start the process; [Terminal.Started], so that the end of the output can be seen; Read
// until io.EOF; [Terminal.Ended] when the process has ended; [Terminal.Close], which hangs up on whoever still has it.
//
// Invariants: a program that does not read its input blocks nobody for longer than they said. Of a new pseudo-terminal
// nothing is inherited by another process by accident.
package pty

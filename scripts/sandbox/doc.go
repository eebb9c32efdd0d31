// Package sandbox runs Lua that may be hostile: it owns the compiler, which puts a price on everything a script can
// make, the base functions that a script sees, and the budget of time and memory that stops it.
//
// It never gives a script files, processes, clocks, randomness, code loading, coroutines or another script's values,
// and it knows nothing about guards.
//
// Invariant: whatever a script does, it ends within a millisecond or so after its deadline, in the goroutine that
// called it, and what it holds on to stays within its memory budget. That rests on three things: the virtual machine
// asks the budget (a context) before every instruction; the compiler turns every operation that makes something
// (concatenation, tables, closures, assignments to fields) into a call that pays for it; and every library function
// that loops asks the budget as it goes.
package sandbox

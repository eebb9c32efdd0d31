// Package keys turns the names of keys into the bytes that a terminal sends for them, and text into the bytes of a paste.
//
// It writes nothing anywhere: what the bytes do is up to the program that reads them, and judging that is up to the
// caller.
//
// Invariants: a name that is not known is an error, never sent as text. A pasted text cannot end its own frame.
package keys

// Package programs holds what is known about programs by their base names: how wrappers go on to the command that they
// run, which options of other programs name a command, which variables make one run something.
//
// It owns tables only. It never decides: a name that is not in a table is simply not known.
//
// Invariant: a table is about names and options as text; nothing here looks at files or runs anything.
package programs

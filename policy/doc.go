// Package policy decides about commands from data alone: it reads shell text without running it.
//
// It owns the reading of shell text: Parse turns a text into the list of simple commands it could run, each with its
// words, assignments and redirections, through wrappers (env, sudo, xargs, sh -c, eval ...) as far as they can be seen.
// It never runs anything, never looks at files, environment or PATH, and never answers with a sentence: refusals are
// codes with values.
//
// Invariant: fail closed. What does not parse is an error; what parses but cannot be read in full (a program named by
// an expansion, text piped into a shell, a sourced file ...) makes the whole Analysis opaque, and an opaque analysis
// never rules a program out. No input makes Parse panic or take longer than in proportion to its bounded size.
package policy

// Package variables says what a shell text tells about its own variables, before any of it has run.
//
// It owns Facts: which names hold exactly what was last assigned to them, which hold numbers, which are associative
// arrays. It never expands anything and knows nothing of the environment.
//
// Invariant: a name is called constant or a number only when no statement of the text, in whatever order they run, can
// make it something else; anything that may assign to any name (eval, a sourced file, read into an expansion) leaves
// no name trusted.
package variables

// Package redact owns the one secret filter: whatever leaves for a model, a chat, a client, a log or a page passes
// it. It knows values (Options.Literals) and shapes (Options.Patterns) of secrets, and works on streams. It never
// decides who may see what, and it is no boundary: a secret it does not recognise, or one that was encoded, passes.
//
// Invariant: however a text is cut into chunks, the pieces a Stream gives back join to what String gives for the whole
// text; and no piece shows a part of a secret that a later piece would have to hide.
package redact

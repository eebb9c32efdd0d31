// Package readable turns what a program wrote for a terminal into what a person would have seen there, as plain text, and
// tells text from what is none.
//
// It owns the meaning of escape sequences and control characters. It decodes nothing and hides nothing: whoever calls it has
// decoded the bytes, and filters secrets before and after, since a sequence within a secret disappears here.
//
// Invariants: ordinary text comes out as it went in; no control character but newline and tab comes out; Text of a Text is
// the same text; time and memory are in proportion to the input.
package readable

// Package screen reads what a program writes to its terminal and knows what a person would see: the rows of text, the
// cursor, the title, and the modes that change what keys must send. It answers the questions that programs ask their
// terminal, such as where the cursor is.
//
// It owns no terminal and starts nothing; it keeps no line that scrolled off and no colour. It understands what the
// terminal type [Term] promises.
//
// The cells are kept by a library. It gets nothing but complete sequences of a fixed set with bounded numbers: everything
// else ends in this package's scanner, so that no output, however hostile, costs memory, hangs or brings down the caller.
//
// Invariants: memory is bounded by the size and a few constants. A reply is of fixed form: no text that a program chose
// ever comes back to it as input.
package screen

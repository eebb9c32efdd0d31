// Package terminal is the channel of the person at the keyboard, or of a program that pipes lines in: plain lines in,
// plain text out. It owns the standard streams of a chat: the prompt, the greeting, Ctrl-C, and the question put to the
// person before an action runs. It decides nothing about what may run.
//
// Lines are handed on byte for byte. A typed line so long that the terminal may have cut it is refused.
//
// With Interactive, replies and notices go to Out with a prompt between turns, replies as they are written, and lines
// typed while a turn runs are handed on at once. Without it (a pipe), every line is one
// turn, Out carries the replies and nothing else, notices go to Err, and nobody can be asked anything.
//
// Invariants: a line is consumed by exactly one reader, in the order typed; a line that was typed before a question was
// shown is never its answer; whatever is written has passed channels.Printable, so that no command output, model reply
// or file name can drive the terminal.
//
// One goroutine reads In. A read of a file descriptor cannot be interrupted, so when Serve returns while In is still
// open that goroutine stays blocked until In has a next line, ends or is closed; it then ends too.
package terminal

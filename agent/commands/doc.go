// Package commands owns the chat commands: one table for every channel, read before the model and working when the
// model does not. A command is a text whose first character is / (or the full-width ／), or ! (！) for /run. It decides
// no permission of its own for what a tool does: /run is a call of run_command like any other, through the one
// pipeline.
//
// Invariants: what follows /run reaches the tool byte for byte; a text that starts like a command is never sent to a
// model; what a command printed is shown only after channels.Printable made control characters visible, so that it
// cannot drive the reader's terminal.
package commands

// Package executor runs one shell command at a time per request: it starts the command, streams and caps what it prints,
// and ends its whole process tree when the deadline passes or the caller gives up.
//
// It owns processes, their pipes and their environment; nothing else in the program starts a process. It decides
// nothing: whether a command may run is settled before [Executor.Run] is called. What it reports are codes and
// numbers, never sentences for people.
//
// Invariants:
//   - A run that timed out or was cancelled leaves no process behind (how far that holds is [Capabilities.KillMethod]).
//   - A run ends with the command itself, not with whoever still holds its pipes; left-over children live on and are
//     named, and their later output is read and thrown away so that they do not die of a closed pipe.
//   - Memory per run is bounded, whatever the command prints.
//   - A command sees the variables that env.go lists and those of its request, and no descriptor but 0, 1 and 2.
//   - No process id is signalled after it was reaped, and never 0, 1, -1, ourselves or our own group.
//
// One Executor per process: process trees and adopted orphans belong to the process as a whole.
package executor

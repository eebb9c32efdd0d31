// Package system owns get_system_info: what the host is and how it does, as structured data. It reads kernel interfaces
// (on Linux /proc and statfs) and never starts a program; what an operating system tells only through a program is
// left out and named in the notes.
//
// Invariant: the result is bounded, and a file system or process that does not answer delays it at most by its
// deadline.
package system

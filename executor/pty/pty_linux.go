package pty

import "golang.org/x/sys/unix"

// Requests for a terminal's modes.
const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
)

// character is a control character as the system gives it; 0 there means none.
func character(b byte) byte { return b }

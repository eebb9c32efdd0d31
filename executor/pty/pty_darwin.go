package pty

import "golang.org/x/sys/unix"

// Requests for a terminal's modes.
const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
)

// character is a control character as the system gives it; 255 there means none.
func character(b byte) byte {
	const disabled = 0xff
	if b == disabled {
		return 0
	}
	return b
}

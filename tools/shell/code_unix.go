//go:build unix

package shell

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// codeNote explains the exit codes by which a POSIX shell speaks for itself. 128+n is only a hint: a program may also
// exit with it.
func codeNote(code int) (id string, args []any) {
	switch {
	case code == 126:
		return "tool_shell.code_126", nil
	case code == 127:
		return "tool_shell.code_127", nil
	case code > 128 && code < 128+65:
		if name := unix.SignalName(syscall.Signal(code - 128)); name != "" {
			return "tool_shell.code_signal", []any{code, name}
		}
	}
	return "", nil
}

//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// prepareOutput: terminals here take escape sequences.
func prepareOutput(*os.File) (undo func(), err error) { return func() {}, nil }

// suspend stops this process as Ctrl-Z does, until it is continued.
func suspend() {
	_ = unix.Kill(unix.Getpid(), unix.SIGTSTP) // without job control nothing happens
}

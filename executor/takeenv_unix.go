//go:build unix

package executor

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// envHandOver names, across our own re-exec, the descriptor from which the full environment is read.
const envHandOver = "MAISHELL_ENV_FD"

// reexec executes this program again with the environment keep, and hands over full. It returns only if that fails.
func reexec(full, keep []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := handOverFile()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString(strings.Join(full, "\x00")); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
		return err
	}
	env := append(keep[:len(keep):len(keep)], envHandOver+"="+strconv.Itoa(int(f.Fd())))
	return syscall.Exec(program, os.Args, env)
}

// handedOver returns what reexec handed over to us, nil if it was not called.
func handedOver() []string {
	fd, err := strconv.Atoi(os.Getenv(envHandOver))
	if err != nil || fd <= 2 {
		return nil
	}
	f := os.NewFile(uintptr(fd), envHandOver)
	if f == nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\x00")
}

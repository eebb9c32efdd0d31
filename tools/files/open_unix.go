//go:build unix

package files

import (
	"os"
	"syscall"
)

// nonblock keeps a FIFO without a writer from holding us up, and a terminal from becoming ours.
const nonblock = syscall.O_NONBLOCK | syscall.O_NOCTTY

// replaceable tells whether putting another file in the place of f loses nothing: f has no other name and is ours.
func replaceable(f *os.File) bool {
	fi, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 1 && int(st.Uid) == os.Geteuid()
}

// sameGroup gives to the group of from, when it is another one.
func sameGroup(to, from *os.File) error {
	a, err := to.Stat()
	if err != nil {
		return err
	}
	b, err := from.Stat()
	if err != nil {
		return err
	}
	old, ok := b.Sys().(*syscall.Stat_t)
	now, okNow := a.Sys().(*syscall.Stat_t)
	if !ok || !okNow || old.Gid == now.Gid {
		return nil
	}
	return to.Chown(-1, int(old.Gid))
}

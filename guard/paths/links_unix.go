//go:build unix

package paths

import (
	"io/fs"
	"syscall"
)

// MoreNames reports whether the file may have another name: it is hard-linked.
func MoreNames(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || uint64(st.Nlink) > 1 //nolint:unconvert // the type differs between systems
}

// SameVolume reports whether both may be names of one file.
func SameVolume(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return !ok || !ok2 || x.Dev == y.Dev
}

package texts

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// systemID is the message for what the operating system said, with the error that says it; empty for what has no
// message here.
func systemID(err error) (id string, said error) {
	for _, known := range []struct {
		target error
		id     string
	}{
		{fs.ErrNotExist, "system.not_exist"},
		{fs.ErrPermission, "system.permission"},
		{syscall.ENOTEMPTY, "system.not_empty"}, // before ErrExist, which it counts as
		{fs.ErrExist, "system.exist"},
		{syscall.ENOTDIR, "system.not_dir"},
		{syscall.EISDIR, "system.is_dir"},
		{syscall.ENOSPC, "system.no_space"},
		{syscall.EROFS, "system.read_only"},
		{syscall.ELOOP, "system.loop"},
		{syscall.ENAMETOOLONG, "system.name_too_long"},
		{syscall.EMFILE, "system.too_many_files"},
		{syscall.ENOEXEC, "system.not_executable"},
		{syscall.EIO, "system.io"},
	} {
		if !errors.Is(err, known.target) {
			continue
		}
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			return known.id, errno
		}
		return known.id, known.target
	}
	return "", nil
}

// plain is err's own text, in which what the operating system said is worded.
func (c *Catalog) plain(err error) string {
	text := err.Error()
	if id, said := systemID(err); id != "" {
		if worded := c.Say(id); worded != id {
			text = strings.Replace(text, said.Error(), worded, 1)
		}
	}
	return text
}

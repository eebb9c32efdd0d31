package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/tools"
)

// errSwapped says that something else stands at a path than a moment before.
var errSwapped = errors.New("changed while it was being opened")

// errOwn says that a handle is one of our own files.
var errOwn = errors.New("is one of maishell's own files")

// errSpecial says that something is neither a regular file nor a directory.
var errSpecial = errors.New("not a regular file")

// fault words an error about a target.
func fault(t target, err error) error {
	var known *tools.Fault
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errOwn):
		return &guard.Refusal{Status: guard.StatusPolicyDenied, Rule: guard.RuleOwnFiles, Reason: "tool_files.own", Args: []any{t.asked}, Err: err}
	case errors.Is(err, errSwapped):
		return &tools.Fault{Status: guard.StatusPolicyDenied, Code: "tool_files.swapped", Args: []any{t.asked}, Err: err}
	case errors.Is(err, errSpecial):
		return tools.Invalid("tool_files.special", "path", t.asked)
	case errors.Is(err, syscall.ENOTDIR):
		return tools.Invalid("tool_files.parent_not_dir", "path", t.asked)
	case errors.Is(err, fs.ErrNotExist):
		return tools.Invalid("tool_files.missing", "path", t.asked)
	case escapes(err):
		return tools.Denied("tool_files.outside", "path", t.asked, t.root)
	case errors.Is(err, fs.ErrPermission):
		return &tools.Fault{Status: guard.StatusPermissionDenied, Code: "tool_files.no_permission", Args: []any{"path", t.asked}, Err: err}
	}
	return &tools.Fault{Status: guard.StatusInternal, Code: "tool_files.failed", Args: []any{t.asked, cause(err)}, Err: err}
}

// escapes recognises os.Root's refusal to leave it, which has no exported value.
func escapes(err error) bool {
	return strings.HasSuffix(err.Error(), "path escapes from parent")
}

// cause is the innermost system error: the outer ones repeat the path.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// own reports whether a handle or the path it was opened by is ours.
func (h *handler) own(path string, fi fs.FileInfo) bool {
	return h.opts.Own != nil && (h.opts.Own.ContainsFile(fi) || h.opts.Own.Contains(path))
}

// openRead opens a regular file or a directory for reading, in a way that does not block, and checks the handle.
func (h *handler) openRead(t target) (*os.File, fs.FileInfo, error) {
	stat, open, done, err := opener(t)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	// A look before: opening a device can have effects of its own.
	before, err := stat()
	if err != nil {
		return nil, nil, err
	}
	if !plain(before) {
		return nil, nil, errSpecial
	}
	f, err := open()
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = h.checkRead(t, f, fi)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// opener gives the two ways to reach a target: below the root, or anywhere.
func opener(t target) (stat func() (fs.FileInfo, error), open func() (*os.File, error), done func(), err error) {
	if t.root == "" {
		return func() (fs.FileInfo, error) { return os.Stat(t.abs) },
			func() (*os.File, error) { return os.OpenFile(t.abs, os.O_RDONLY|nonblock, 0) },
			func() {}, nil
	}
	root, err := openRoot(t)
	if err != nil {
		return nil, nil, nil, err
	}
	return func() (fs.FileInfo, error) { return root.Stat(t.rel) },
		func() (*os.File, error) { return root.OpenFile(t.rel, os.O_RDONLY|nonblock, 0) },
		func() { _ = root.Close() }, nil
}

func openRoot(t target) (*os.Root, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, &tools.Fault{Status: guard.StatusInternal, Code: "tool_files.workspace_unusable", Args: []any{t.root, cause(err)}, Err: err}
	}
	return root, nil
}

func plain(fi fs.FileInfo) bool { return fi.Mode().IsRegular() || fi.IsDir() }

// checkRead looks at what was really opened.
func (h *handler) checkRead(t target, f *os.File, fi fs.FileInfo) error {
	if !plain(fi) {
		return errSpecial
	}
	if h.own(t.abs, fi) {
		return errOwn
	}
	if h.opts.Own == nil || t.root != "" {
		return nil
	}
	// Links may have led anywhere: ask again for the place at which the opened file really lies.
	real, err := filepath.EvalSymlinks(t.abs)
	if err != nil {
		return errSwapped
	}
	now, err := os.Stat(real)
	if err != nil || !os.SameFile(now, fi) {
		return errSwapped
	}
	if h.opts.Own.Contains(real) {
		return errOwn
	}
	return nil
}

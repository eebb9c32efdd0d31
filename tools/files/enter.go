package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// place is where a file is written: a name that is used only relative to an open directory.
type place struct {
	root *os.Root
	name string
}

// enter opens the place of a target and makes the directories that are missing on the way. The caller closes its root.
func (h *handler) enter(t target) (place, error) {
	if t.root == "" {
		real, err := resolve(t.abs)
		if err != nil {
			return place{}, err
		}
		if h.opts.Own != nil && h.opts.Own.Contains(real) {
			return place{}, errOwn
		}
		return h.descend(real)
	}
	if h.opts.Own != nil && h.opts.Own.Contains(t.abs) {
		return place{}, errOwn
	}
	root, err := openRoot(t)
	if err != nil {
		return place{}, err
	}
	err = h.makeDirs(root, t)
	if errors.Is(err, fs.ErrExist) {
		err = syscall.ENOTDIR // a file stands there
	}
	if err != nil {
		_ = root.Close()
		return place{}, err
	}
	return place{root: root, name: t.rel}, nil
}

// makeDirs makes the directories that are missing on the way to a target in its workspace, unless one would be ours.
func (h *handler) makeDirs(root *os.Root, t target) error {
	dir := filepath.Dir(t.rel)
	for i := 1; h.opts.Own != nil && i <= len(dir); i++ {
		if i < len(dir) && !os.IsPathSeparator(dir[i]) {
			continue
		}
		if _, err := root.Lstat(dir[:i]); err != nil && h.opts.Own.Contains(filepath.Join(t.root, dir[:i])) {
			return errOwn
		}
	}
	return root.MkdirAll(dir, 0o755)
}

// resolve follows the links of an absolute path as far as it exists.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	real, err = resolve(dir)
	return filepath.Join(real, filepath.Base(path)), err
}

// descend opens the directory of a path without links one component after the other. Each is compared with what stood there
// a moment before, so that a link that is slipped in on the way is noticed, and none may be ours.
func (h *handler) descend(path string) (place, error) {
	top := filepath.VolumeName(path) + string(filepath.Separator)
	dirs := strings.Split(strings.TrimPrefix(path, top), string(filepath.Separator))
	name := dirs[len(dirs)-1]
	if name == "" {
		name = "."
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return place{}, err
	}
	at := top
	for _, dir := range dirs[:len(dirs)-1] {
		at = filepath.Join(at, dir)
		next, err := h.step(root, dir, at)
		_ = root.Close()
		if err != nil {
			return place{}, err
		}
		root = next
	}
	return place{root: root, name: name}, nil
}

// step opens dir in root, or makes it; path is its whole path.
func (h *handler) step(root *os.Root, dir, path string) (*os.Root, error) {
	before, err := root.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if h.opts.Own != nil && h.opts.Own.Contains(path) {
			return nil, errOwn
		}
		if err = root.Mkdir(dir, 0o755); err == nil {
			before, err = root.Lstat(dir)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errSwapped
	case !before.IsDir():
		return nil, syscall.ENOTDIR
	}
	next, err := root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(before, opened):
		err = errSwapped
	case h.opts.Own != nil && h.opts.Own.ContainsFile(opened):
		err = errOwn
	}
	if err != nil {
		_ = next.Close()
		return nil, err
	}
	return next, nil
}

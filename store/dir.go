package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	databaseName = "maishell.db"
	headName     = "audit.head"
)

// prepareDir makes dir a directory that only we can enter. A directory that others can enter is tightened when it
// is ours and holds nothing but our own files (or nothing): tightening /tmp because a setting says so helps nobody.
func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return &Error{Code: "store.dir_not_dir", Args: []any{dir}, Err: err}
		}
		return &Error{Code: "store.dir_create", Args: []any{dir, cause(err)}, Err: err}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return &Error{Code: "store.dir_create", Args: []any{dir, cause(err)}, Err: err}
	}
	if !ownedByUs(info) {
		return &Error{Code: "store.dir_owner", Args: []any{dir}}
	}
	if !openToOthers(info) {
		return nil
	}
	if ours, err := holdsOnlyOurs(dir); err != nil || !ours {
		return &Error{Code: "store.dir_shared", Args: []any{dir}, Err: err}
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory needs its x bit
		return &Error{Code: "store.dir_shared", Args: []any{dir}, Err: err}
	}
	return nil
}

// holdsOnlyOurs reports whether dir is empty or has been a store before.
func holdsOnlyOurs(dir string) (bool, error) {
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	names, err := d.Readdirnames(1)
	_ = d.Close()
	if len(names) == 0 {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	_, err = os.Lstat(filepath.Join(dir, databaseName))
	return err == nil, nil
}

// prepareFile creates a file of ours with mode 0600, or tightens it. It never opens one that exists: closing any
// descriptor of the database would drop the locks that SQLite holds on it elsewhere in this process.
func prepareFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return &Error{Code: "store.cannot_create", Args: []any{path, cause(err)}, Err: err}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return &Error{Code: "store.cannot_create", Args: []any{path, cause(err)}, Err: err}
	}
	if !info.Mode().IsRegular() {
		return &Error{Code: "store.not_a_file", Args: []any{path}}
	}
	if openToOthers(info) {
		if err := os.Chmod(path, 0o600); err != nil {
			return &Error{Code: "store.readonly", Args: []any{path}, Err: err}
		}
	}
	return nil
}

// cause is the system's own message, without the operation and path that the text around it already names.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

//go:build unix

package store

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPermissions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b?c=d")
	s := open(t, dir)
	add(t, s, full(1))
	wantMode(t, dir, 0o700)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 3 { // the database, its log, the head
		t.Errorf("found only %v", entries)
	}
	for _, e := range entries {
		wantMode(t, filepath.Join(dir, e.Name()), 0o600)
	}
}

func TestOpenTightens(t *testing.T) {
	t.Parallel()
	empty, used := t.TempDir(), filled(t)
	for _, dir := range []string{empty, used} {
		chmod(t, dir, 0o755)
	}
	chmod(t, filepath.Join(used, databaseName), 0o644)
	for _, dir := range []string{empty, used} {
		open(t, dir)
		wantMode(t, dir, 0o700)
		wantMode(t, filepath.Join(dir, databaseName), 0o600)
	}
}

// A directory that is in use for something else is not taken away from its users.
func TestOpenLeavesSharedDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chmod(t, dir, 0o755)
	if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	wantCode(t, err, "store.dir_shared")
	wantMode(t, dir, 0o755)
}

func TestOpenRefusesForeignDirectories(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, -1); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	wantCode(t, err, "store.dir_owner")
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func wantMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != mode {
		t.Errorf("%s: mode %v (%v), want %v", path, info.Mode().Perm(), err, mode)
	}
}

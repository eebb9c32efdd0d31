package config

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func makePipe(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

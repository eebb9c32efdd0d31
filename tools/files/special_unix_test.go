//go:build unix

package files_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/maishell/maishell/roles"
)

func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		e := setup(t, roles.Admin, open)
		if err := syscall.Mkfifo(filepath.Join(e.ws, "fifo"), 0o644); err != nil {
			t.Fatal(err)
		}
		// A socket's path has little room: bind in the directory.
		l, err := net.Listen("unix", filepath.Join(e.ws, "s"))
		if err != nil {
			t.Logf("no socket: %v", err)
		} else {
			defer l.Close()
		}
		paths := []string{"fifo", "s"}
		if open {
			paths = append(paths, "/dev/null", "/dev/zero", "/dev/tty")
		}
		for _, path := range paths {
			if _, err := os.Lstat(filepath.Join(e.ws, path)); err != nil && !filepath.IsAbs(path) {
				continue
			}
			start := time.Now()
			for _, kv := range [][]any{{"read_file", "path", path}, {"write_file", "path", path, "content", "x"}, {"write_file", "path", path, "content", "x", "mode", "append"}} {
				got := e.call(kv[0].(string), kv[1:]...)
				if got["success"] != false || !strings.Contains(got.Text("error"), "not a regular file") && path != "/dev/tty" {
					t.Errorf("open %v, %s %s: %v", open, kv[0], path, got)
				}
			}
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("%s took %v", path, d)
			}
		}
	}
}

func TestFailedWriteKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	e := setup(t, roles.User, false)
	path := filepath.Join(e.ws, "a")
	e.put(path, "old")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if got := e.call("write_file", "path", "a", "content", "new"); got["status"] != "permission_denied" || e.get(path) != "old" {
		t.Errorf("%v", got)
	}
}

func TestSwapsUnderWay(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.Admin, true)
	top := filepath.Dir(e.own)
	dir, gone := filepath.Join(top, "real"), filepath.Join(top, "gone")
	e.put(filepath.Join(dir, "config.toml"), "harmless")
	// A directory turns into a link to our own and back as fast as it can while the tools run.
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(dir, gone)
			_ = os.Symlink("own", dir)
			_ = os.Remove(dir)
			_ = os.Rename(gone, dir)
		}
	}()
	for range 300 {
		if got := e.call("read_file", "path", filepath.Join(dir, "config.toml")); strings.Contains(got.Text("content"), "own") {
			t.Errorf("%v", got)
		}
		e.call("write_file", "path", filepath.Join(dir, "config.toml"), "content", "harmless")
		e.call("write_file", "path", filepath.Join(dir, "new.toml"), "content", "harmless", "mode", "create")
	}
	close(stop)
	<-done
	e.untouched()
}

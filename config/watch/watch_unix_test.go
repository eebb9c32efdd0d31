//go:build unix

package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestMountedConfig swaps a link the way Kubernetes updates a mounted config map.
func TestMountedConfig(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, false)
		r.mkdir()
		publish := func(version, text string) {
			dir := filepath.Join(r.dir, ".."+version)
			r.must(os.Mkdir(dir, 0o700))
			r.write(filepath.Join(dir, "config.toml"), text)
			r.must(os.Symlink(".."+version, filepath.Join(r.dir, "..data_tmp")))
			r.must(os.Rename(filepath.Join(r.dir, "..data_tmp"), filepath.Join(r.dir, "..data")))
		}
		publish("v1", "v1\n")
		r.must(os.Symlink(filepath.Join("..data", "config.toml"), r.file))
		r.wants("v1\n")
		for i := range 3 {
			version := fmt.Sprint("v", i+2)
			publish(version, version+"\n")
			r.wants(version + "\n")
			r.must(os.RemoveAll(filepath.Join(r.dir, fmt.Sprint("..v", i+1))))
		}
		r.nothing(150 * time.Millisecond)
	})
}

// TestLinkedFile has the file elsewhere, as a collection of dot files does.
func TestLinkedFile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, false)
		r.mkdir()
		elsewhere := filepath.Join(filepath.Dir(r.dir), "dotfiles")
		r.must(os.Mkdir(elsewhere, 0o700))
		target := filepath.Join(elsewhere, "m.toml")
		r.write(target, "linked\n")
		r.must(os.Symlink("../dotfiles/m.toml", r.file))
		r.wants("linked\n")
		r.write(target, "in place\n")
		r.wants("in place\n")
		tmp := filepath.Join(elsewhere, "tmp")
		r.write(tmp, "renamed\n")
		r.must(os.Rename(tmp, target))
		r.wants("renamed\n")
	})
}

func TestLinkedDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Poll: 50 * time.Millisecond}, false)
	for i := range 2 {
		real := fmt.Sprint(r.dir, "-real", i)
		r.must(os.Mkdir(real, 0o700))
		r.write(filepath.Join(real, "config.toml"), fmt.Sprint(i, "\n"))
		r.must(os.Symlink(real, r.dir+"-tmp"))
		r.must(os.Rename(r.dir+"-tmp", r.dir))
		r.wants(fmt.Sprint(i, "\n"))
		r.write(r.file, fmt.Sprint("in place ", i, "\n"))
		r.wants(fmt.Sprint("in place ", i, "\n"))
	}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	each(t, func(t *testing.T, o Options) {
		o.Settle = 100 * time.Millisecond
		r := newRig(t, o, true)
		r.must(os.Chmod(r.file, 0))
		select {
		case <-r.seen:
		case <-time.After(patience):
			t.Fatal("the loss was not reported")
		}
		r.must(os.Chmod(r.file, 0o600))
		r.wants("one\n")
	})
}

func TestPipeDoesNotBlock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		o.Settle = 100 * time.Millisecond
		r := newRig(t, o, true)
		if got := readFile(r.file); got.state != "" {
			t.Fatal(got.state)
		}
		r.must(os.Remove(r.file))
		r.must(syscall.Mkfifo(r.file, 0o600))
		if got := readFile(r.file); got.state != "irregular" {
			t.Fatal(got.state)
		}
		r.must(os.Remove(r.file))
		r.write(r.file, "a file again\n")
		r.wants("a file again\n")
	})
}

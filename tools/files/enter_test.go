package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// ownDir is one directory by identity alone.
type ownDir struct{ fi os.FileInfo }

func (o ownDir) Contains(string) bool             { return false }
func (o ownDir) ContainsFile(fi os.FileInfo) bool { return os.SameFile(o.fi, fi) }

func TestDescend(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(top, "own")
	if err := os.MkdirAll(filepath.Join(own, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(own)
	if err != nil {
		t.Fatal(err)
	}
	h := &handler{opts: Options{Own: ownDir{fi}}}
	for _, path := range []string{filepath.Join(own, "new"), filepath.Join(own, "lib", "new"), filepath.Join(own, "made", "new")} {
		if p, err := h.descend(path); !errors.Is(err, errOwn) {
			t.Errorf("%s: %v, %v, want errOwn", path, p, err)
		}
	}
	if _, err := os.Stat(filepath.Join(own, "made")); err == nil {
		t.Error("a directory was made in our own")
	}
	p, err := h.descend(filepath.Join(top, "a", "b", "new"))
	if err != nil || p.name != "new" {
		t.Fatalf("%v, %v", p, err)
	}
	if err := p.root.Close(); err != nil {
		t.Error(err)
	}
	if fi, err := os.Stat(filepath.Join(top, "a", "b")); err != nil || !fi.IsDir() {
		t.Errorf("the missing directories were not made: %v", err)
	}
	p, err = h.descend(filepath.VolumeName(top) + string(filepath.Separator))
	if err != nil || p.name != "." {
		t.Fatalf("%v, %v", p, err)
	}
	if err := p.root.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Symlink("a", filepath.Join(top, "link")); err != nil {
		t.Skip(err)
	}
	if fi, err := os.Lstat(filepath.Join(top, "link")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Skip("symbolic links do not last here")
	}
	// descend is for paths without links: one that is there came in between.
	if p, err := h.descend(filepath.Join(top, "link", "new")); !errors.Is(err, errSwapped) {
		t.Errorf("%v, %v, want errSwapped", p, err)
	}
}

// ownPath is one path with all below it, by name alone.
type ownPath string

func (o ownPath) Contains(path string) bool     { return isBelow(string(o), path) }
func (o ownPath) ContainsFile(os.FileInfo) bool { return false }

func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Without a floor before it: no directory is made where an own file has its place.
func TestNothingIsMadeOnTheWayToARefusal(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(top, "a", "config.toml")
	h := &handler{opts: Options{Own: ownPath(own)}}
	for _, path := range []string{filepath.Join(own, "x"), filepath.Join(own, "x", "y")} {
		if p, err := h.descend(path); !errors.Is(err, errOwn) {
			t.Errorf("descend %s: %v, %v", path, p, err)
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []target{{abs: path}, {abs: path, root: top, rel: rel}} {
			if p, err := h.enter(target); !errors.Is(err, errOwn) {
				t.Errorf("enter %v: %v, %v", target, p, err)
			}
		}
		root, err := os.OpenRoot(top)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.makeDirs(root, target{abs: path, root: top, rel: rel}); !errors.Is(err, errOwn) {
			t.Errorf("make %s: %v", rel, err)
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(own); err == nil {
		t.Error("a directory stands in the place of an own file")
	}
}

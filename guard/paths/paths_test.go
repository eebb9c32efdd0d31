package paths

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Where the system can follow a path, Follow comes to the same file, and to the path that the system names.
func TestFollowAgreesWithTheSystem(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c", "d"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"a/f", "d/f", "a/b/c/f"} {
		if err := os.WriteFile(filepath.Join(root, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"a/up": "..", "d/abs": filepath.Join(root, "a", "b"), "l": filepath.Join("d", "abs", "c"), "d/f2": filepath.Join("..", "a", "f"), "loop": "loop", "gone": filepath.Join("x", "y"),
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	steps := []string{"a", "b", "c", "d", "f", "up", "abs", "l", "f2", "loop", "gone", ".", "..", "nothing"}
	rapid.Check(t, func(rt *rapid.T) {
		path := root + string(filepath.Separator) + strings.Join(rapid.SliceOfN(rapid.SampledFrom(steps), 1, 8).Draw(rt, "steps"), string(filepath.Separator))
		var w Walker
		got := w.Follow(path, true)
		info, err := os.Stat(path)
		if err != nil {
			if got.Info != nil && !strings.Contains(path, "..") && !strings.HasSuffix(path, ".") {
				rt.Fatalf("%s leads to %s, the system says %v", path, got.Path, err)
			}
			return
		}
		if got.Info == nil || !os.SameFile(info, got.Info) {
			rt.Fatalf("%s leads to %s (%v), which is another file", path, got.Path, got.Info)
		}
		if real, err := filepath.EvalSymlinks(got.Path); err != nil || real != got.Path {
			rt.Fatalf("%s leads to %s, which is not free of links (%s, %v)", path, got.Path, real, err)
		}
	})
}

func TestFollowStopsAtTheLastLink(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "link")
	if err := os.Symlink("target", name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	var w Walker
	if p := w.Follow(name, false); p.Path != name || p.Info == nil || p.Info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("stopped at %+v", p)
	}
	want := filepath.Join(root, "target")
	if p := w.Follow(name, true); p.Path != want || p.Info != nil || p.Dirs[len(p.Dirs)-1].Path != root {
		t.Errorf("followed to %+v", p)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false}, {"/a/b", "/a", false}, {"/", "/x", true}, {"/a/", "/a/b", true},
	} {
		if got := Within(filepath.FromSlash(c.dir), filepath.FromSlash(c.path)); got != c.want {
			t.Errorf("Within(%s, %s) = %v", c.dir, c.path, got)
		}
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, below  string
		matches, passes bool
	}{
		{"/e/*", "x", true, false}, {"/e/*", ".x", false, false}, {"/e/.*", ".x", true, false}, {"/e/*/y", "x", false, true}, {"/e/*/y", "x/y", true, false},
		{"/e/**", "x/y", true, false}, {"/e/**/z", "z", true, true}, {"/e/**/z", "a/b/z", true, true}, {"/e/**/z", "a/b", false, true},
		{"/e/[!a]", "b", true, false}, {"/e/[!a]", "a", false, false}, {"/e/[[:alpha:]]", "b", true, false}, {"/e/{a,b}", "zz", true, false}, {"/e/@(a)", "zz", true, false},
		{"/e/[", "x", true, false}, {"/e/a?c", "abc", true, false}, {"/e/a?c", "ac", false, false},
	} {
		p := ParsePattern(c.pattern)
		below := strings.Split(c.below, "/")
		if p.Matches(below) != c.matches || p.Passes(below) != c.passes {
			t.Errorf("%s over %s: matches %v, passes %v", c.pattern, c.below, p.Matches(below), p.Passes(below))
		}
	}
	if diff := cmp.Diff(Pattern{Dir: "/e/f/", Rest: []string{"a*", "b"}}, ParsePattern("/e/f/a*/b")); diff != "" {
		t.Error(diff)
	}
}

func TestWalkIsBounded(t *testing.T) {
	t.Parallel()
	var w Walker
	dir := t.TempDir()
	if w.Follow(dir, true); w.Exhausted() {
		t.Fatal("exhausted by one path")
	}
	w.Follow(dir+strings.Repeat("/..", maxSteps+1), true)
	if !w.Exhausted() {
		t.Error("a path of any length is followed")
	}
	var spent Walker
	if spent.Spend(maxSteps + 1); !spent.Exhausted() {
		t.Error("other work does not count")
	}
}

package watch

import (
	"os"
	"strings"
	"testing"
)

// TestNoDescriptorLeft is not parallel: other tests hold descriptors of the same kind.
func TestNoDescriptorLeft(t *testing.T) {
	held := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(to, "inotify") {
				n++
			}
		}
		return n
	}
	before := held()
	for range 20 {
		w, err := New(Options{Files: []string{t.TempDir() + "/x"}})
		if err != nil {
			t.Fatal(err)
		}
		if n := held(); n != before+1 {
			t.Fatalf("%d descriptors, want %d", n, before+1)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := held(); n != before {
		t.Errorf("%d descriptors are left, %d before", n, before)
	}
}

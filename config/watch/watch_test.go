package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long something that must happen may take on a busy machine.
const patience = 20 * time.Second

type rig struct {
	t    *testing.T
	w    *Watcher
	dir  string // real
	file string
	seen chan string // what was in file at each report
}

// newRig watches one file, which holds "one\n" when exists is set. It has what a user of the package has to do: read
// the file at every report.
func newRig(t *testing.T, o Options, exists bool) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(dir, "conf"), seen: make(chan string, 1000)}
	r.file = filepath.Join(r.dir, "config.toml")
	if exists {
		r.mkdir()
		r.write(r.file, "one\n")
	}
	o.Files = []string{r.file}
	if o.noEvents {
		o.Poll = 10 * time.Millisecond
	}
	if r.w, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.w.Close(); err != nil {
			t.Error(err)
		}
	})
	go func() {
		defer close(r.seen)
		for range r.w.Changes() {
			r.seen <- r.read()
		}
	}()
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) mkdir()                  { r.t.Helper(); r.must(os.MkdirAll(r.dir, 0o700)) }
func (r *rig) write(path, text string) { r.t.Helper(); r.must(os.WriteFile(path, []byte(text), 0o600)) }

func (r *rig) read() string {
	data, err := os.ReadFile(r.file)
	if err != nil {
		return stateOf(err)
	}
	return string(data)
}

// renamed saves as vim and others do.
func (r *rig) renamed(text string) {
	r.t.Helper()
	tmp := filepath.Join(r.dir, "4913")
	r.write(tmp, text)
	r.must(os.Rename(tmp, r.file))
}

// wants waits until text was reported.
func (r *rig) wants(text string) {
	r.t.Helper()
	timeout := time.After(patience)
	var got []string
	for {
		select {
		case s := <-r.seen:
			if s == text {
				return
			}
			got = append(got, s)
		case <-timeout:
			r.t.Fatalf("%q was not reported, but %q", text, got)
		}
	}
}

// nothing checks that no report comes for a while.
func (r *rig) nothing(d time.Duration) {
	r.t.Helper()
	select {
	case s := <-r.seen:
		r.t.Fatalf("%q was reported", s)
	case <-time.After(d):
	}
}

// each runs f with events and with polling alone.
func each(t *testing.T, f func(t *testing.T, o Options)) {
	t.Helper()
	t.Run("events", func(t *testing.T) {
		t.Parallel()
		f(t, Options{Poll: time.Hour})
	})
	t.Run("polled", func(t *testing.T) {
		t.Parallel()
		f(t, Options{noEvents: true})
	})
}

func TestInPlace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, true)
		for i := range 5 {
			text := fmt.Sprint("in place ", i, "\n")
			r.write(r.file, text)
			r.wants(text)
		}
		r.write(r.file, "in place 4\n") // the same content
		r.nothing(150 * time.Millisecond)
	})
}

func TestByRename(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, true)
		for i := range 5 {
			text := fmt.Sprint("renamed ", i, "\n")
			r.renamed(text)
			r.wants(text)
		}
		r.write(r.file, "and in place again\n")
		r.wants("and in place again\n")
		r.must(os.Rename(r.file, r.file+"~")) // vim with backupcopy=no
		r.write(r.file, "backed up\n")
		r.wants("backed up\n")
	})
}

func TestHalfWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		o.Settle = patience / 2
		r := newRig(t, o, true)
		f, err := os.OpenFile(r.file, os.O_WRONLY|os.O_TRUNC, 0o600)
		r.must(err)
		r.nothing(150 * time.Millisecond) // empty
		_, err = f.WriteString("[first]\nand ha")
		r.must(err)
		r.nothing(150 * time.Millisecond) // ends in the middle of a line
		_, err = f.WriteString("lf\n")
		r.must(err)
		r.must(f.Close())
		r.wants("[first]\nand half\n")

		r.must(os.Remove(r.file))
		r.nothing(150 * time.Millisecond)
		r.write(r.file, "recreated\n")
		r.wants("recreated\n")
	})
}

func TestGoneForGood(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		o.Settle = 100 * time.Millisecond
		r := newRig(t, o, true)
		r.write(r.file, "one, longer\n")
		r.wants("one, longer\n")
		r.write(r.file, "one")
		r.wants("one")
		r.must(os.Remove(r.file))
		r.wants("missing")
		r.write(r.file, "back\n")
		r.wants("back\n")
	})
}

func TestDirectoryReplaced(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, true)
		for i := range 3 {
			r.must(os.RemoveAll(r.dir))
			r.mkdir()
			text := fmt.Sprint("removed ", i, "\n")
			r.write(r.file, text)
			r.wants(text)
			r.must(os.Rename(r.dir, fmt.Sprint(r.dir, i)))
			r.wants("missing")
			r.mkdir()
			text = fmt.Sprint("moved ", i, "\n")
			r.write(r.file, text)
			r.wants(text)
		}
	})
}

func TestCreatedWhileRunning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, false)
		r.mkdir()
		r.write(filepath.Join(r.dir, "other"), "not ours\n")
		r.nothing(150 * time.Millisecond)
		r.renamed("new\n")
		r.wants("new\n")
	})
}

// TestManySaves writes 200 times in place, waiting for each report: none may be missed, and each has to be reported
// soon. What is aimed at is 100 ms; a shared machine gets more.
func TestManySaves(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Poll: time.Hour}, true)
	var took []time.Duration
	for i := range 200 {
		text := fmt.Sprint("timeout_seconds = ", 1000+i, "\n")
		start := time.Now()
		r.write(r.file, text)
		r.wants(text)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Log("p50", took[100], "p99", took[198], "most", took[199])
	if took[198] > 500*time.Millisecond {
		t.Errorf("p99 is %v", took[198])
	}
}

func TestWithoutPause(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, true)
		for i := range 200 {
			r.write(r.file, fmt.Sprint(i, "\n"))
		}
		r.wants("199\n")
	})
}

// TestNeverQuiet holds that somebody who never stops writing does not put a report off for ever.
func TestNeverQuiet(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Poll: time.Hour}, true)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for i := 0; ; i++ {
		r.renamed(fmt.Sprint(i, "\n"))
		select {
		case <-r.seen:
			return
		case <-deadline:
			t.Fatal("nothing was reported")
		case <-tick.C:
		}
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o Options) {
		r := newRig(t, o, true)
		scripts := filepath.Join(r.dir, "scripts")
		follow := func() { r.must(r.w.Follow([]string{r.file}, []Dir{{Path: scripts, Glob: "*.lua"}})) }
		report := func() { r.t.Helper(); r.wants("one\n") }
		follow()
		report()
		follow()
		r.nothing(150 * time.Millisecond)
		r.must(os.Mkdir(scripts, 0o700))
		report()
		guard := filepath.Join(scripts, "guard.lua")
		r.write(guard, "return 1\n")
		report()
		r.write(filepath.Join(scripts, "notes.txt"), "x\n")
		r.nothing(150 * time.Millisecond)
		r.write(guard, "return 2\n")
		report()
		r.must(os.Remove(guard))
		report()
		if err := r.w.Follow(nil, []Dir{{Path: scripts, Glob: "["}}); err == nil {
			t.Error("a bad pattern was taken")
		}
		r.must(r.w.Follow(nil, nil))
		report()
	})
}

func TestAfterClose(t *testing.T) {
	t.Parallel()
	w, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Follow([]string{"/x"}, nil); err != nil {
		t.Error(err)
	}
	if _, ok := <-w.Changes(); ok {
		t.Error("a change after Close")
	}
	if _, err := New(Options{Dirs: []Dir{{Path: "/", Glob: "["}}}); err == nil {
		t.Error("a bad pattern was taken")
	}
}

func TestBigFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Poll: time.Hour}, true)
	r.must(os.Truncate(r.file, maxFile+1))
	select {
	case <-r.seen:
	case <-time.After(patience):
		t.Fatal("not reported")
	}
}

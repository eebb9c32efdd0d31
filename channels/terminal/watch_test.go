package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maishell/maishell/texts"
)

func TestStatusOfWhatRuns(t *testing.T) {
	t.Parallel()
	cat, err := texts.New("en")
	if err != nil {
		t.Fatal(err)
	}
	term := New(Options{Texts: func() *texts.Catalog { return cat }})
	s, w := &sink{t: term}, &term.watched
	now := time.Now()
	w.turn(now)
	at := func(d time.Duration) string { return strings.Join(w.lines(now.Add(d), term.texts()), "\n") }
	check := func(d time.Duration, want string) {
		t.Helper()
		if diff := cmp.Diff(want, at(d)); diff != "" {
			t.Errorf("after %v: %s", d, diff)
		}
	}
	check(time.Second, "")
	check(3*time.Second, "3 s, Ctrl-C stops it")
	peek, stop := s.Watch("run_command make\nall")
	w.runs[0].began = now
	check(999*time.Millisecond, "")
	check(1500*time.Millisecond, `1 s, Ctrl-C stops it: run_command make ⏎ all`)
	peek(func() string { return "1\n2\n3\n4\n5\n\n6 \x1b]0;t\a\r\n10%\r20%" })
	check(61*time.Second, "  4\n  5\n  6 \\x1b]0;t\\x07\n  20%\n"+`61 s, Ctrl-C stops it: run_command make ⏎ all`)
	_, stop2 := s.Watch(strings.Repeat("长", 1000))
	w.runs[1].began = now
	if got := at(2 * time.Second); !strings.Contains(got, "  20%\n") || strings.Contains(got, "  5\n") || len(got) > 2*maxName {
		t.Errorf("two at once: %s", got)
	}
	stop()
	stop2()
	check(9*time.Second, "9 s, Ctrl-C stops it")
}

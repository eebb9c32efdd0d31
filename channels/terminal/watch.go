package terminal

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/texts"
)

const (
	quick     = time.Second // what takes less is not worth a status
	tailLines = 5           // of output, over everything that runs
	maxName   = 400         // bytes of a name; no terminal shows more on a line
)

// watched is what runs in a turn, for the status.
type watched struct {
	mu    sync.Mutex
	began time.Time // of the turn
	runs  []*watch
}

type watch struct {
	name  string
	began time.Time
	peek  func() string // nil: nothing to see
}

func (w *watched) turn(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = now
}

// Watch implements channels.Watcher.
func (s *sink) Watch(name string) (peek func(func() string), stop func()) {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	w, run := &s.t.watched, &watch{name: name, began: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, run)
	return func(f func() string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			run.peek = f
		}, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.runs = slices.DeleteFunc(w.runs, func(r *watch) bool { return r == run })
		}
}

// lines is the status at a time: the end of what each run printed, and how long it takes already.
func (w *watched) lines(now time.Time, cat *texts.Catalog) []string {
	w.mu.Lock()
	began, runs := w.began, make([]watch, 0, len(w.runs))
	for _, r := range w.runs {
		if now.Sub(r.began) >= quick {
			runs = append(runs, *r)
		}
	}
	idle := len(w.runs) == 0
	w.mu.Unlock()
	if idle && now.Sub(began) >= longTurn {
		return []string{cat.Say("terminal.status_turn", seconds(now.Sub(began)))}
	}
	var out []string
	for _, r := range runs {
		if r.peek != nil {
			out = append(out, tail(r.peek(), max(1, tailLines/len(runs)))...)
		}
		out = append(out, cat.Say("terminal.status_run", channels.RevealLine(strings.ReplaceAll(r.name, "\n", " ⏎ ")), seconds(now.Sub(r.began))))
	}
	return out
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// tail is the last n lines of output, as they would stand on a screen and safe to show.
func tail(output string, n int) []string {
	lines := strings.Split(strings.TrimRight(output, "\r\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	var out []string
	for _, l := range lines {
		l = strings.TrimRight(l, "\r")
		l = l[strings.LastIndexByte(l, '\r')+1:] // a progress bar draws over itself
		if l = channels.RevealLine(l); strings.TrimSpace(l) != "" {
			out = append(out, "  "+l)
		}
	}
	return out
}

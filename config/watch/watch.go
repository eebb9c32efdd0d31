package watch

import (
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Dir stands for the files in one directory, not in those below it.
type Dir struct {
	Path string // absolute; need not exist
	Glob string // names that count, as filepath.Match reads it
}

// Options say what is watched. The zero value is valid and watches nothing.
type Options struct {
	Files    []string      // absolute paths; none has to exist
	Dirs     []Dir         // directories in which files come and go
	Debounce time.Duration // how long nothing may happen before a change is reported; 0: 50 ms
	Settle   time.Duration // the same for a file that is gone, or looks cut off: more may follow; 0: 500 ms
	Poll     time.Duration // interval at which the files are looked at without an event; 0: 1 s
	Logger   *slog.Logger  // nil: discard

	noEvents bool // for tests of polling
}

const (
	defaultDebounce = 50 * time.Millisecond
	defaultSettle   = 500 * time.Millisecond
	defaultPoll     = time.Second
	maxBurst        = 10 // debounce times: somebody who never stops writing does not put a report off for ever
)

// Watcher reports changes. It is safe for concurrent use.
type Watcher struct {
	o       Options
	changes chan struct{}
	follow  chan Options
	done    chan struct{}
	ended   chan struct{}
	once    sync.Once

	// What follows belongs to the goroutine of run.
	events  *fsnotify.Watcher // nil: there are none
	watched map[string]fs.FileInfo
	mute    map[string]bool // directories for which it was said that they give no events
	names   []string        // paths, folded, whose events concern us, with all above them
	dirs    []string        // folded, links resolved: directories in which every event concerns us
	told    contents        // as last reported
	still   contents        // as last read, different from told
	since   time.Time       // when still was first read
	first   time.Time       // of the present burst of events; zero: none
	polled  bool            // found by looking, not by an event: nobody told when the writing ended
	timer   *time.Timer
}

// New starts to watch. What changes after it returned is reported. The only error is a bad glob: without events from
// the system it looks at the files at the interval.
func New(o Options) (*Watcher, error) {
	if err := checkGlobs(o.Dirs); err != nil {
		return nil, err
	}
	o.Debounce = orDefault(o.Debounce, defaultDebounce)
	o.Settle = max(orDefault(o.Settle, defaultSettle), o.Debounce)
	o.Poll = orDefault(o.Poll, defaultPoll)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{
		o: o, changes: make(chan struct{}, 1), follow: make(chan Options), done: make(chan struct{}), ended: make(chan struct{}),
		watched: map[string]fs.FileInfo{}, mute: map[string]bool{}, timer: time.NewTimer(time.Hour),
	}
	w.timer.Stop()
	if !o.noEvents {
		var err error
		if w.events, err = fsnotify.NewWatcher(); err != nil {
			o.Logger.Warn("no file events, files are looked at every so often", "interval", o.Poll, "err", err)
			w.events = nil
		}
	}
	w.refresh()
	w.told = w.read()
	go w.run()
	return w, nil
}

func checkGlobs(dirs []Dir) error {
	for _, d := range dirs {
		if _, err := filepath.Match(d.Glob, ""); err != nil {
			return fmt.Errorf("watch %s: pattern %q: %w", d.Path, d.Glob, err)
		}
	}
	return nil
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}

// Changes gets a value after content changed; several changes may share one. It is closed by Close.
func (w *Watcher) Changes() <-chan struct{} { return w.changes }

// Follow watches other files and directories from now on. When they differ from the present ones this counts as a
// change, so that nothing is missed in between. The only error is a bad glob.
func (w *Watcher) Follow(files []string, dirs []Dir) error {
	if err := checkGlobs(dirs); err != nil {
		return err
	}
	select {
	case w.follow <- Options{Files: slices.Clone(files), Dirs: slices.Clone(dirs)}:
	case <-w.ended:
	}
	return nil
}

// Close ends the watching and gives everything back. Further calls do nothing.
func (w *Watcher) Close() error {
	w.once.Do(func() { close(w.done) })
	<-w.ended
	return nil
}

// run is the watcher's only goroutine beside that of the event source.
func (w *Watcher) run() {
	defer close(w.ended)
	defer close(w.changes)
	defer w.timer.Stop()
	poll := time.NewTicker(w.o.Poll)
	defer poll.Stop()
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.events != nil {
		events, errs = w.events.Events, w.events.Errors
		defer func() {
			if err := w.events.Close(); err != nil {
				w.o.Logger.Debug("stop file events", "err", err)
			}
		}()
	}
	for {
		select {
		case <-w.done:
			return
		case p := <-w.follow:
			if !slices.Equal(p.Files, w.o.Files) || !slices.Equal(p.Dirs, w.o.Dirs) {
				w.o.Files, w.o.Dirs, w.told = p.Files, p.Dirs, nil
				w.arm()
			}
		case e := <-events:
			if w.concerns(e.Name) {
				w.arm()
			}
		case err := <-errs: // too many at once, most of all: some are lost
			w.o.Logger.Debug("file events", "err", err)
			w.arm()
		case <-poll.C:
			w.look()
		case <-w.timer.C:
			w.fire()
		}
	}
}

// arm puts the next look off until nothing has happened for the debounce time.
func (w *Watcher) arm() {
	now := time.Now()
	if w.first.IsZero() {
		w.first = now
	}
	w.timer.Reset(min(w.o.Debounce, max(0, w.first.Add(maxBurst*w.o.Debounce).Sub(now))))
}

// look finds changes without an event. A burst of events in progress will look by itself.
func (w *Watcher) look() {
	if !w.first.IsZero() {
		return
	}
	w.refresh()
	now := w.read()
	if now.equal(w.told) || w.still != nil && now.equal(w.still) { // the second: fire comes back to it
		return
	}
	w.note(now)
	w.polled = true
	w.timer.Reset(w.o.Debounce)
}

// note remembers since when the content is as it is.
func (w *Watcher) note(now contents) {
	if w.still == nil || !now.equal(w.still) {
		w.still, w.since = now, time.Now()
	}
}

// fire reports, unless nothing changed after all or more is to be expected.
func (w *Watcher) fire() {
	w.first = time.Time{}
	w.refresh() // before reading: what changes after it gives events
	now := w.read()
	if now.equal(w.told) {
		w.still, w.polled = nil, false
		return
	}
	w.note(now)
	var quiet time.Duration
	if w.polled {
		quiet = w.o.Debounce
	}
	if now.cut(w.told) {
		quiet = w.o.Settle
	}
	if left := quiet - time.Since(w.since); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.told, w.still, w.polled = now, nil, false
	select {
	case w.changes <- struct{}{}:
	default: // one is waiting already
	}
}

package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/maishell/maishell/channels/terminal/lineedit"
)

// device is the terminal that lines are edited on.
type device struct {
	in, out *os.File
}

// newDevice returns nil where lines cannot be edited.
func newDevice(in io.Reader, out io.Writer) *device {
	i, ok := in.(*os.File)
	o, ok2 := out.(*os.File)
	if !ok || !ok2 || !isTerminal(i) || !isTerminal(o) {
		return nil
	}
	return &device{in: i, out: o}
}

// isTerminal reports whether f is a file and a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (d *device) width() int {
	cols, _, err := term.GetSize(int(d.out.Fd()))
	if err != nil {
		return 0
	}
	return cols
}

// raw takes the terminal over; the function that it returns gives it back.
func (d *device) raw() (restore func(), err error) {
	undo, err := prepareOutput(d.out)
	if err != nil {
		return nil, err
	}
	before, err := term.MakeRaw(int(d.in.Fd()))
	if err != nil {
		undo()
		return nil, err
	}
	return func() {
		_ = term.Restore(int(d.in.Fd()), before) // it may be gone
		undo()
	}, nil
}

// startEditing takes the terminal over until leave is called.
func (t *Terminal) startEditing() (leave func(), err error) {
	restore, err := t.device.raw()
	if err != nil {
		return nil, fmt.Errorf("terminal: raw mode: %w", err)
	}
	// Ctrl-C is a key now; a signal may come from elsewhere still.
	interrupts, ended := make(chan struct{}, 1), make(chan struct{})
	go forward(t.interrupt, interrupts, ended)
	t.interrupt = interrupts
	edit := lineedit.New(lineedit.Options{
		In: t.device.in, Out: t.device.out, Width: t.device.width, Prompt: t.say("terminal.prompt"), History: t.history,
		// At the prompt the first Ctrl-C only clears the line; what runs is stopped by every one.
		Interrupt: func(cleared bool) {
			if !cleared || t.running.Load() {
				push(interrupts)
			}
		},
		Keep: func() bool { return len(t.question) == 0 && !t.prompted.Load() }, // an answer may be anything, a password too
		Suspend: func() {
			restore()
			suspend()
			if again, err := t.device.raw(); err == nil {
				restore = again
			}
		},
	})
	t.in.read1 = func() (string, flaw, error) {
		line, err := edit.ReadLine()
		return line, sound, err
	}
	t.mu.Lock()
	t.edit = edit
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.edit = nil
		t.mu.Unlock()
		_ = edit.Close()
		restore()
		close(ended)
	}, nil
}

// forward passes interrupts on until ended.
func forward(from <-chan struct{}, to chan<- struct{}, ended <-chan struct{}) {
	for {
		select {
		case <-from:
			push(to)
		case <-ended:
			return
		}
	}
}

// push leaves one interrupt, unless one is waiting to be seen.
func push(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// lookEvery is how often a running turn is looked at for its status.
const lookEvery = 250 * time.Millisecond

// looks ticks while a status can be shown; nil: it cannot.
func (t *Terminal) looks() (ticks <-chan time.Time, rest func()) {
	if t.device == nil {
		return nil, func() {}
	}
	t.watched.turn(time.Now())
	ticker := time.NewTicker(lookEvery)
	return ticker.C, func() {
		ticker.Stop()
		t.status(nil)
	}
}

// status shows lines above the edited one.
func (t *Terminal) status(lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.edit != nil {
		t.edit.SetStatus(lines)
	}
}

// ErrWriter is Err for others, such as a log: where it is the terminal on which a line is edited, texts are put above it.
func (t *Terminal) ErrWriter() io.Writer { return errWriter{t} }

type errWriter struct{ t *Terminal }

func (w errWriter) Write(p []byte) (int, error) {
	w.t.warn(string(p))
	return len(p), nil
}

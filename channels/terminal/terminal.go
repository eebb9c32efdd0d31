package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/channels/terminal/lineedit"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
)

// ErrInterrupted is what Serve returns when a piped chat was interrupted.
var ErrInterrupted = errors.New("terminal: interrupted")

// longTurn is after how long a person is told that a turn still runs.
const longTurn = 2 * time.Second

// Options are what a terminal needs. A nil stream is empty or discards.
type Options struct {
	In          io.Reader
	Out         io.Writer
	Err         io.Writer
	Interactive bool // In is a person's terminal
	// Edit: lines are edited by us where In and Out are terminals of one device. Else the system's line mode has to do.
	Edit    bool
	History *lineedit.History // of edited lines; nil: none
	Origin  session.Origin
	// Texts gives the catalog in use now; nil shows message ids.
	Texts func() *texts.Catalog
	// Interrupt gets one value per Ctrl-C; nil: never.
	Interrupt <-chan struct{}
	Logger    *slog.Logger
}

// Terminal is one chat over standard streams. Serve may be called once; Ask at any time, from any goroutine.
type Terminal struct {
	interactive bool
	origin      session.Origin
	texts       func() *texts.Catalog
	interrupt   <-chan struct{}
	log         *slog.Logger
	in          *lines
	question    chan struct{} // holds one token while a question is open
	running     atomic.Bool   // a turn is
	prompted    atomic.Bool   // the running turn asked something that a line is to answer
	since       atomic.Uint64 // the newest line when the running turn began

	device  *device // what lines are edited on; nil: they are not
	history *lineedit.History
	watched watched // what runs

	mu       sync.Mutex // one text at a time
	out, err io.Writer
	edit     *lineedit.Editor // while Serve runs, on a device
	broken   error            // the first failed write to out
	midLine  *sink            // whose streamed text stands at the end of the last line; nil: nobody's
}

// New makes a terminal. Nothing is read or written before Serve or Ask.
func New(o Options) *Terminal {
	t := &Terminal{
		interactive: o.Interactive, origin: o.Origin, texts: o.Texts, interrupt: o.Interrupt, log: o.Logger,
		question: make(chan struct{}, 1), out: o.Out, err: o.Err, history: o.History,
	}
	if o.Interactive && o.Edit {
		t.device = newDevice(o.In, o.Out)
	}
	if t.texts == nil {
		t.texts = func() *texts.Catalog { return nil }
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	if t.out == nil {
		t.out = io.Discard
	}
	if t.err == nil {
		t.err = io.Discard
	}
	in, ahead, typed := o.In, aheadPiped, 0
	if in == nil {
		in = bytes.NewReader(nil)
	}
	if t.interactive {
		ahead, typed = aheadTyped, typedLine
	}
	t.in = newLines(in, ahead, typed)
	return t
}

// Serve answers lines with h, one turn after another, until the input ends, h returns channels.ErrQuit or the person
// interrupts twice at the prompt (all three: nil), ctx ends (its error), a piped chat is interrupted (ErrInterrupted),
// or Out cannot be written any more (that error).
func (t *Terminal) Serve(ctx context.Context, h channels.Handler) error {
	defer t.in.stop()
	if t.device != nil {
		leave, err := t.startEditing()
		if err != nil {
			return err
		}
		defer leave()
	}
	if t.interactive {
		t.show(t.say("terminal.greeting") + "\n")
	}
	for {
		text, err := t.nextLine(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, channels.ErrQuit) {
				return t.failure()
			}
			return err
		}
		err = t.turn(ctx, h, text)
		switch {
		case errors.Is(err, channels.ErrQuit):
			return t.failure()
		case ctx.Err() != nil:
			return ctx.Err()
		case t.failure() != nil:
			return t.failure()
		case errors.Is(err, ErrInterrupted):
			return err
		case err != nil:
			t.log.Error("turn failed", "err", err)
			t.warn(t.say("terminal.turn_failed", t.texts().Error(err)) + "\n")
		}
	}
}

// nextLine prompts and waits for a line that is not blank. channels.ErrQuit: interrupted twice at the prompt.
func (t *Terminal) nextLine(ctx context.Context) (string, error) {
	interrupted := false
	t.prompt()
	for {
		l, err := t.in.next(ctx, t.interrupt)
		switch {
		case errors.Is(err, ErrInterrupted) && !t.interactive:
			return "", err
		case errors.Is(err, ErrInterrupted) && interrupted:
			t.show(t.lineEnd())
			return "", channels.ErrQuit
		case errors.Is(err, ErrInterrupted):
			interrupted = true
			t.show(t.lineEnd() + t.say("terminal.how_to_leave") + "\n")
		case err != nil:
			if t.interactive {
				t.show(t.lineEnd()) // the shell's own prompt starts on a line of its own
			}
			return "", err
		case l.flaw == tooLong:
			interrupted = false
			t.warn(t.say("terminal.line_too_long", maxLine) + "\n")
		case l.flaw == cut:
			interrupted = false
			t.warn(t.say("terminal.line_cut", typedLine) + "\n")
		case strings.TrimSpace(l.text) != "":
			return l.text, nil
		default:
			interrupted = false
		}
		t.prompt()
	}
}

// lineEnd ends the line of the prompt, which an editor keeps apart.
func (t *Terminal) lineEnd() string {
	if t.device != nil {
		return ""
	}
	return "\n"
}

func (t *Terminal) prompt() {
	if t.interactive && t.device == nil {
		t.show(t.say("terminal.prompt"))
	}
}

func (t *Terminal) say(id string, args ...any) string { return t.texts().Say(id, args...) }

// show writes text to Out, as it is safe to show, on a line of its own.
func (t *Terminal) show(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLine(nil)
	t.write(text)
}

// endLine ends the line of a streamed text, unless it is that of by. The lock is held.
func (t *Terminal) endLine(by *sink) {
	if t.midLine != nil && t.midLine != by {
		t.write("\n")
		t.midLine = nil
	}
}

// write puts text on Out. The lock is held.
func (t *Terminal) write(text string) {
	var err error
	if t.edit != nil {
		err = t.edit.Print(channels.Printable(text))
	} else {
		_, err = io.WriteString(t.out, channels.Printable(text))
	}
	if err != nil && t.broken == nil {
		t.broken = fmt.Errorf("terminal: write: %w", err)
	}
}

// warn writes text to Err, as it is safe to show. Nobody is helped by a failure to do so.
func (t *Terminal) warn(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.edit != nil && isTerminal(t.err) {
		t.endLine(nil)
		_ = t.edit.Print(channels.Printable(text))
		return
	}
	_, _ = io.WriteString(t.err, channels.Printable(text))
}

// failure is the first failed write to Out.
func (t *Terminal) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

package lineedit

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"sync"
)

// Options are what an editor works on. In, Out and Width are required; the terminal is in raw mode.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Width   func() int // columns of the terminal now; < 1: 80
	Prompt  string
	History *History // nil: none
	// Keep says whether a line that is entered now goes into the history; nil: it does.
	Keep func() bool
	// Interrupt is called for Ctrl-C on an empty line, and after Ctrl-C has cleared one that was not (cleared). nil: nothing.
	Interrupt func(cleared bool)
	// Suspend is called for Ctrl-Z, with nothing of the editor on the screen; afterwards it is drawn again. nil: nothing.
	Suspend func()
}

// Editor is the line at the bottom. ReadLine is for one goroutine, everything else for any.
type Editor struct {
	o  Options
	in *bufio.Reader

	mu     sync.Mutex
	low    lowest
	line   buffer
	recall int    // which line of the history is shown; its length: the new one
	kept   []rune // the new line, while another is shown
	broken error
	closed bool
}

const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// New draws the prompt.
func New(o Options) *Editor {
	if o.History == nil {
		o.History = &History{}
	}
	e := &Editor{o: o, in: bufio.NewReaderSize(o.In, 4096)}
	e.low.prompt, e.low.line = o.Prompt, &e.line
	e.recall = o.History.len()
	e.change(func(out *strings.Builder) { out.WriteString(pasteOn) })
	return e
}

// change takes what is drawn away, calls f, which may write, and draws anew.
func (e *Editor) change(f func(out *strings.Builder)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	var out strings.Builder
	e.low.erase(&out)
	f(&out)
	e.low.draw(&out, e.width())
	e.flush(&out)
}

func (e *Editor) flush(out *strings.Builder) {
	if _, err := io.WriteString(e.o.Out, out.String()); err != nil && e.broken == nil {
		e.broken = err
	}
}

func (e *Editor) width() int {
	if cols := e.o.Width(); cols > 0 {
		return cols
	}
	return 80
}

// Print shows text above the edited line. A text that does not end with a newline is gone on with by the next.
func (e *Editor) Print(text string) error {
	e.change(func(out *strings.Builder) { e.print(out, text) })
	return e.failure()
}

// print writes the lines of text that are complete. The lock is held, nothing is drawn.
func (e *Editor) print(out *strings.Builder, text string) {
	text = e.low.pending + text
	done, rest := "", text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		done, rest = text[:i+1], text[i+1:]
	}
	out.WriteString(strings.ReplaceAll(done, "\n", "\r\n"))
	rows := wrap(rest, max(e.width()-1, 4))
	for _, full := range rows[:len(rows)-1] {
		out.WriteString(full + "\r\n")
	}
	e.low.pending = rows[len(rows)-1]
}

// SetStatus shows lines between the printed text and the edited line, each cut to the width of the terminal.
func (e *Editor) SetStatus(lines []string) {
	e.mu.Lock()
	same := slices.Equal(e.low.status, lines)
	e.mu.Unlock()
	if !same {
		e.change(func(*strings.Builder) { e.low.status = lines })
	}
}

func (e *Editor) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

// Close leaves the terminal as it was found, the cursor below the last text. The terminal is out of raw mode only after
// its owner has seen to that.
func (e *Editor) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return e.broken
	}
	e.closed = true
	var out strings.Builder
	e.low.erase(&out)
	if e.low.pending != "" {
		out.WriteString(e.low.pending + "\r\n")
	}
	out.WriteString(pasteOff)
	e.flush(&out)
	return e.broken
}

// ReadLine returns the next line that is entered, without its end. io.EOF: Ctrl-D on an empty line, or the end of In.
func (e *Editor) ReadLine() (string, error) {
	for {
		k, text, err := readKey(e.in)
		if err != nil {
			return "", err
		}
		switch k {
		case keyEnter:
			return e.enter(), nil
		case keyInterrupt:
			e.interrupted()
		case keyEOF:
			if e.empty() {
				return "", io.EOF
			}
			e.press(k, text)
		case keySuspend:
			e.suspend()
		case keyNone:
		case keyText:
			e.press(k, e.more(text))
		default:
			e.press(k, text)
		}
	}
}

// more adds what was typed faster than it can be shown, as far as it is plain.
func (e *Editor) more(text []rune) []rune {
	for e.in.Buffered() > 0 {
		next, err := e.in.Peek(1)
		if err != nil || next[0] < ' ' || next[0] >= 0x7f {
			break
		}
		_, _ = e.in.Discard(1) // it is buffered
		text = append(text, rune(next[0]))
	}
	return text
}

func (e *Editor) empty() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.line.text) == 0
}

// press applies a key.
func (e *Editor) press(k key, text []rune) {
	e.change(func(out *strings.Builder) {
		switch k {
		case keyUp:
			e.show(e.recall - 1)
		case keyDown:
			e.show(e.recall + 1)
		case keyClear:
			out.WriteString("\x1b[H\x1b[2J")
		default:
			e.line.edit(k, text)
		}
	})
}

// show goes to the i-th line of the history; the one behind the last is the new one.
func (e *Editor) show(i int) {
	n := e.o.History.len()
	if i < 0 || i > n {
		return
	}
	if e.recall >= n {
		e.kept = slices.Clone(e.line.text)
	}
	e.recall = i
	if i == n {
		e.line.set(e.kept)
		return
	}
	e.line.set(runesOf(e.o.History.at(i)))
}

// enter takes the line, which stays on the screen as printed text.
func (e *Editor) enter() string {
	var line string
	e.change(func(out *strings.Builder) {
		line = textOf(e.line.text)
		if e.low.pending != "" {
			e.print(out, "\n")
		}
		e.line.pos = len(e.line.text)
		rows, _, _ := e.low.edited(max(e.width()-1, 4))
		out.WriteString(strings.Join(rows, "\r\n") + "\r\n")
		e.line.set(nil)
	})
	if e.o.Keep == nil || e.o.Keep() {
		e.keep(line)
	}
	return line
}

// keep adds a line to the history.
func (e *Editor) keep(line string) {
	_ = e.o.History.Add(line) // a history that cannot be written is no reason to stop
	e.mu.Lock()
	e.recall, e.kept = e.o.History.len(), nil
	e.mu.Unlock()
}

func (e *Editor) interrupted() {
	cleared := !e.empty()
	if cleared {
		e.change(func(*strings.Builder) {
			e.line.set(nil)
			e.recall, e.kept = e.o.History.len(), nil
		})
	}
	if e.o.Interrupt != nil {
		e.o.Interrupt(cleared)
	}
}

// suspend calls Options.Suspend with the screen cleared of us.
func (e *Editor) suspend() {
	if e.o.Suspend == nil {
		return
	}
	e.mu.Lock()
	var out strings.Builder
	e.low.erase(&out)
	out.WriteString(pasteOff)
	e.flush(&out)
	e.mu.Unlock()
	e.o.Suspend()
	e.change(func(out *strings.Builder) { out.WriteString(pasteOn) })
}

package pty

import (
	"errors"
	"io"
	"os"
	"time"
)

// Size is that of a terminal in characters, each from 1 to MaxSize.
type Size struct{ Cols, Rows int }

// MaxSize is the largest number of columns and of rows.
const MaxSize = 1000

// DefaultSize is for callers that name none: wide enough for the tables of ps, top and git log, which cut their lines at
// the edge, and small enough for one screen to be read by a model.
func DefaultSize() Size { return Size{Cols: 120, Rows: 40} }

// Check returns an *Error when the size is out of range.
func (s Size) Check() error {
	if s.Cols < 1 || s.Cols > MaxSize || s.Rows < 1 || s.Rows > MaxSize {
		return &Error{Code: codeSize, Args: []any{s.Cols, s.Rows, MaxSize}}
	}
	return nil
}

// Modes are how a terminal treats what is typed. A program changes them as it likes.
type Modes struct {
	Echo      bool // what is typed is shown; a program that asks for a password turns it off
	Canonical bool // lines are edited by the terminal and read when complete
	EOF       byte // the character that ends the input at the beginning of a line, Ctrl-D; 0: none
	Interrupt byte // the character that interrupts, Ctrl-C; 0: none
}

// Error is a code with parameters; the code is a message id of the texts catalog.
type Error struct {
	Code string // one of the codes below
	Args []any
	Err  error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Code + ": " + e.Err.Error()
	}
	return e.Code
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.Err }

// TextID returns the message id and its values.
func (e *Error) TextID() (string, []any) { return e.Code, e.Args }

// Codes of Error.
const (
	codeUnavailable = "executor_pty.unavailable" // cause: this system has no pseudo-terminals for us
	codeLimit       = "executor_pty.limit"       // cause: it has no more of them now
	codeSize        = "executor_pty.size"        // columns, rows, most of each
	codeResize      = "executor_pty.resize"      // cause
	codeFull        = "executor_pty.full"        // bytes taken, bytes given
	codeGone        = "executor_pty.gone"        // it is closed
	codeModes       = "executor_pty.modes"       // cause
)

// Unavailable reports whether err, from Open, says that there is no pseudo-terminal to be had: the command may be run
// without one.
func Unavailable(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == codeUnavailable || e.Code == codeLimit)
}

// Read reads what programs wrote to the terminal; io.EOF once all of them have closed it or ended, or after Close. One
// goroutine may read at a time.
func (t *Terminal) Read(p []byte) (int, error) {
	n, err := t.Master().Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	if HungUp(err) || errors.Is(err, os.ErrClosed) {
		return 0, io.EOF
	}
	return 0, err
}

// Send types p. When the program takes too little of it within that time, it returns how many bytes were taken and an *Error
// with the code executor_pty.full; executor_pty.gone after Close. It may be called from any goroutine: what two callers send
// is not mixed. A terminal in canonical mode loses what goes beyond 4095 bytes in one line (1023 on macOS).
func (t *Terminal) Send(p []byte, within time.Duration) (int, error) {
	deadline := time.Now().Add(within)
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case t.sending <- struct{}{}:
		defer func() { <-t.sending }()
	case <-timer.C:
		return 0, &Error{Code: codeFull, Args: []any{0, len(p)}}
	}
	input := t.input()
	if err := input.SetWriteDeadline(deadline); err != nil {
		return 0, &Error{Code: codeGone, Err: err}
	}
	n, err := input.Write(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, &Error{Code: codeFull, Args: []any{n, len(p)}, Err: err}
	default:
		return n, &Error{Code: codeGone, Err: err}
	}
}

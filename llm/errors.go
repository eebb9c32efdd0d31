package llm

import (
	"errors"
	"fmt"
)

// ErrContextTooLong is what Complete returns when the request is longer than the model can read: a shorter one may do.
var ErrContextTooLong = errors.New("llm: the conversation is longer than the model can read")

// Error is a code with values; the code is a message id of the texts catalog.
type Error struct {
	Code string // "llm.refused", "llm.cut", ...
	Args []any
	Err  error // cause; may be nil
}

func (e *Error) Error() string {
	s := e.Code
	if len(e.Args) > 0 {
		s += fmt.Sprintf(" %v", e.Args)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.Err }

// TextID returns the message id and its values.
func (e *Error) TextID() (string, []any) { return e.Code, e.Args }

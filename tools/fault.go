package tools

import (
	"github.com/maishell/maishell/guard"
)

// Fault is an error of a tool that the caller can understand: a status with a message id and its values.
type Fault struct {
	Status guard.Status
	Code   string // message id of the texts catalog
	Args   []any
	Err    error // cause; may be nil
	Body   any   // what is known nevertheless; may be nil
}

// Invalid is a Fault of status invalid_argument. Its first value names the argument.
func Invalid(code string, args ...any) *Fault {
	return &Fault{Status: guard.StatusInvalidArgument, Code: code, Args: args}
}

// Denied is a Fault of status permission_denied.
func Denied(code string, args ...any) *Fault {
	return &Fault{Status: guard.StatusPermissionDenied, Code: code, Args: args}
}

func (f *Fault) Error() string {
	s := string(f.Status) + ": " + f.Code
	if f.Err != nil {
		s += ": " + f.Err.Error()
	}
	return s
}

// Unwrap returns the cause, if any.
func (f *Fault) Unwrap() error { return f.Err }

// TextID returns the message id and its values for the texts catalog.
func (f *Fault) TextID() (string, []any) { return f.Code, f.Args }

// phrase is a value of a message that is itself a message.
type phrase struct {
	code string
	args []any
}

func say(code string, args ...any) phrase { return phrase{code: code, args: args} }

func (p phrase) Error() string           { return p.code }
func (p phrase) TextID() (string, []any) { return p.code, p.args }

package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong with the settings.
type Problem struct {
	Where string // FILE:LINE:COLUMN, FILE, the name of an environment variable, or "flag KEY"
	Code  string // message id of the texts catalog
	Args  []any  // its values behind Where
}

func problem(where, code string, args ...any) []*Problem {
	return []*Problem{{Where: where, Code: code, Args: args}}
}

func (p *Problem) Error() string {
	s := p.Where + ": " + p.Code
	for _, a := range p.Args {
		s += fmt.Sprintf(" %v", a)
	}
	return s
}

// TextID returns the message id and its values; the first is Where.
func (p *Problem) TextID() (string, []any) { return p.Code, append([]any{p.Where}, p.Args...) }

// Problems is the error of Load: everything that is wrong, files before variables before flags, each in its order.
type Problems []*Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return "configuration: " + strings.Join(lines, "\n")
}

// Unwrap returns the problems one by one.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

const maxShown = 40 // characters of a bad value that an error shows

func quote(s string) string {
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown]) + "…"
	}
	return strconv.Quote(s)
}

// describe shows a value of the wrong type.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []any:
		return "[…]"
	case map[string]any:
		return "{…}"
	}
	return fmt.Sprint(v)
}

package policy

import (
	"fmt"
	"strings"
)

// Pos is a place in a shell text. Text inside another command's argument (sh -c, eval) counts from its own start.
type Pos struct {
	Offset int // bytes, from 0
	Line   int // from 1
	Col    int // bytes, from 1; 0 in a line longer than 16,383 bytes
}

// RefusedError is a text that is not even parsed, or whose parse cannot be trusted. Code is a message id.
type RefusedError struct {
	Code string // "policy.char_nul", "policy.too_long" ...
	Pos  Pos
	Args []any // values of the message beside line and column
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("line %d, column %d: refused: %s%s", e.Pos.Line, e.Pos.Col, e.Code, fmtArgs(e.Args))
}

func fmtArgs(args []any) string {
	if len(args) == 0 {
		return ""
	}
	return " " + fmt.Sprint(args...)
}

// TextID returns the message id and its values: line, column, then Args.
func (e *RefusedError) TextID() (string, []any) {
	return e.Code, append([]any{e.Pos.Line, e.Pos.Col}, e.Args...)
}

// ParseError is a syntax error, worded as a shell words it.
type ParseError struct {
	Shell     string // "sh" or "bash"
	Line, Col int    // from 1
	Msg       string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s: line %d, column %d: syntax error: %s", e.Shell, e.Line, e.Col, e.Msg)
}

// TextID returns the message id and its values: shell, line, column, message.
func (e *ParseError) TextID() (string, []any) {
	return "policy.parse_error", []any{e.Shell, e.Line, e.Col, e.Msg}
}

// posAt finds line and column of a byte offset.
func posAt(text string, offset int) Pos {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	return Pos{
		Offset: offset,
		Line:   strings.Count(before, "\n") + 1,
		Col:    offset - strings.LastIndexByte(before, '\n'),
	}
}

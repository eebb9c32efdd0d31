package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error is a code with parameters; the code is a message id of the texts catalog.
type Error struct {
	Code string // "store.full", "store.corrupt", "store.newer", ...
	Args []any
	Err  error
}

func (e *Error) Error() string {
	s := e.Code
	if len(e.Args) > 0 {
		s += fmt.Sprintf(" %q", e.Args)
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

// ErrNotFound is what Get returns, wrapped, for a number that no record has.
var ErrNotFound = errors.New("no such record")

// classify turns what SQLite reported about the database at path into an Error that says what to do about it.
func classify(path string, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var se *sqlite.Error
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, errNoHead) { // only the table head is asked for a row that must be there
		return &Error{Code: "store.corrupt", Args: []any{path}, Err: err}
	}
	if !errors.As(err, &se) {
		return &Error{Code: "store.failed", Args: []any{path, err}, Err: err}
	}
	e := &Error{Code: "store.failed", Args: []any{path, err}, Err: err}
	switch se.Code() & 0xff { // the low byte is the kind of error, the rest its detail
	case sqlite3.SQLITE_FULL:
		e.Code, e.Args = "store.full", []any{path}
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		e.Code, e.Args = "store.readonly", []any{path}
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR: // the last: a table or column of ours is not there
		e.Code, e.Args = "store.corrupt", []any{path}
	case sqlite3.SQLITE_CANTOPEN:
		e.Code, e.Args = "store.cannot_open", []any{path}
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Code, e.Args = "store.busy", []any{path}
	case sqlite3.SQLITE_CONSTRAINT:
		// The only rows written with a key of our choosing continue the chain.
		e.Code, e.Args = "store.head_behind", []any{path}
	}
	return e
}

// busy reports whether another process was in the way, so that trying again may help.
func busy(err error) bool {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return false
	}
	kind := se.Code() & 0xff
	return kind == sqlite3.SQLITE_BUSY || kind == sqlite3.SQLITE_LOCKED
}

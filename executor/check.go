package executor

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Limits and defaults of a Request.
const (
	MaxCommandBytes  = 128_000 // Linux takes 131,071 bytes as one argument
	MinMaxChars      = 100
	defaultMaxChars  = 8000
	defaultKillGrace = 200 * time.Millisecond
)

// checkRequest fills in defaults and returns what is wrong with req, or nil.
func checkRequest(req *Request) *Error {
	switch {
	case req.Command == "":
		return &Error{Code: codeCommandEmpty}
	case strings.IndexByte(req.Command, 0) >= 0:
		return &Error{Code: codeCommandNUL}
	case len(req.Command) > MaxCommandBytes:
		return &Error{Code: codeCommandLong, Args: []any{MaxCommandBytes, len(req.Command)}}
	case strings.IndexByte(req.Shell, 0) >= 0:
		return &Error{Code: codeShellInvalid, Args: []any{req.Shell}}
	case strings.IndexByte(req.RunID, 0) >= 0:
		return &Error{Code: codeEnvInvalid, Args: []any{envRunID}}
	case req.Timeout <= 0:
		return &Error{Code: codeTimeout}
	case req.MaxChars != 0 && req.MaxChars < MinMaxChars:
		return &Error{Code: codeMaxChars, Args: []any{MinMaxChars}}
	case ParseCodePage(req.CodePage) != nil:
		return &Error{Code: codeCodePage, Args: []any{req.CodePage}}
	}
	for _, kv := range req.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.IndexByte(kv, 0) >= 0 {
			return &Error{Code: codeEnvInvalid, Args: []any{name}}
		}
	}
	if req.RunID == "" {
		req.RunID = rand.Text()
	}
	if req.MaxChars == 0 {
		req.MaxChars = defaultMaxChars
	}
	if req.KillGrace == 0 {
		req.KillGrace = defaultKillGrace
	}
	switch {
	case strings.IndexByte(req.Dir, 0) >= 0:
		return &Error{Code: codeCwdInvalid, Args: []any{req.Dir}}
	case !filepath.IsAbs(req.Dir):
		return &Error{Code: codeCwdRelative, Args: []any{req.Dir}}
	}
	return nil
}

// checkDir says what keeps dir from being a working directory. It is asked after a start failed: the system checks the
// directory before anything runs, but its error does not say that it means the directory.
func checkDir(dir string) *Error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &Error{Code: codeCwdMissing, Args: []any{dir}, Err: err}
	case errors.Is(err, syscall.ENOTDIR):
		return &Error{Code: codeCwdNotDir, Args: []any{dir}, Err: err}
	case err != nil:
		return &Error{Code: codeCwdUnusable, Args: []any{dir, err}, Err: err}
	case !info.IsDir():
		return &Error{Code: codeCwdNotDir, Args: []any{dir}}
	}
	if err := enterable(dir); err != nil {
		return &Error{Code: codeCwdUnusable, Args: []any{dir, err}, Err: err}
	}
	return nil
}

package executor

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// Codes of Error, which are ids of the texts catalog.
const (
	codeCommandEmpty  = "executor.command_empty"
	codeCommandNUL    = "executor.command_nul"
	codeCommandLong   = "executor.command_too_long" // limit in bytes, length
	codeShellInvalid  = "executor.shell_invalid"    // shell
	codeCwdInvalid    = "executor.cwd_invalid"      // dir
	codeCwdRelative   = "executor.cwd_relative"     // dir
	codeCwdMissing    = "executor.cwd_missing"      // dir
	codeCwdNotDir     = "executor.cwd_not_dir"      // dir
	codeCwdUnusable   = "executor.cwd_unusable"     // dir, cause
	codeEnvInvalid    = "executor.env_invalid"      // name
	codeTimeout       = "executor.timeout_invalid"
	codeMaxChars      = "executor.max_chars_invalid" // minimum
	codeCodePage      = "executor.code_page_unknown" // name
	codeClosed        = "executor.closed"
	codeShellMissing  = "executor.shell_missing"  // shell
	codeShellUnusable = "executor.shell_unusable" // shell, cause
	codeArgsTooLong   = "executor.args_too_long"  // refused by the system as too long together
	codeProcessLimit  = "executor.process_limit"
	codeFileLimit     = "executor.file_limit"
	codeMemory        = "executor.memory"
	codeSpawn         = "executor.spawn" // cause
)

// status is what a run that did not start because of e ends with.
func (e *Error) status() Status {
	if strings.HasPrefix(e.Code, "executor.cwd_") {
		return Invalid // only the start itself can tell
	}
	return SpawnFailed
}

// spawnError names what stood in the way of starting s, given the system's error.
func spawnError(s spawnSpec, err error) *Error {
	var coded *Error
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.Is(err, syscall.E2BIG):
		return &Error{Code: codeArgsTooLong, Err: err}
	case errors.Is(err, syscall.EAGAIN):
		return &Error{Code: codeProcessLimit, Err: err}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return &Error{Code: codeFileLimit, Err: err}
	case errors.Is(err, syscall.ENOMEM):
		return &Error{Code: codeMemory, Err: err}
	}
	// The system does not say which path it could not use.
	if bad := checkDir(s.dir); bad != nil {
		return bad
	}
	if _, statErr := os.Stat(s.shell); errors.Is(statErr, os.ErrNotExist) {
		return &Error{Code: codeShellMissing, Args: []any{s.shell}, Err: err}
	}
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOEXEC) || errors.Is(err, os.ErrNotExist) {
		return &Error{Code: codeShellUnusable, Args: []any{s.shell, err}, Err: err}
	}
	return &Error{Code: codeSpawn, Args: []any{err}, Err: err}
}

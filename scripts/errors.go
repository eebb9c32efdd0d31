package scripts

import "fmt"

// LoadError says why a set of scripts does not load. Code is a message id.
type LoadError struct {
	Code string
	Args []any
	Err  error
}

func (e *LoadError) Error() string { return fmt.Sprintf("%s %q", e.Code, fmt.Sprint(e.Args...)) }

// Unwrap returns the cause, if any.
func (e *LoadError) Unwrap() error { return e.Err }

// TextID returns the message id and its values for the texts catalog.
func (e *LoadError) TextID() (string, []any) { return e.Code, e.Args }

func loadError(code string, err error, args ...any) *LoadError {
	if err != nil {
		args = append(args, err)
	}
	return &LoadError{Code: code, Args: args, Err: err}
}

// HookError is a hook that failed. Msg begins with FILE:LINE.
type HookError struct {
	Hook string
	Msg  string
	Err  error // why it was stopped, if it was
}

func (e *HookError) Error() string { return fmt.Sprintf("hook %q: %s", e.Hook, e.Msg) }

// Unwrap returns why the script was stopped, if it was.
func (e *HookError) Unwrap() error { return e.Err }

// TextID returns the message id and its values for the texts catalog.
func (e *HookError) TextID() (string, []any) { return "lua.failed", []any{e.Hook, e.Msg} }

// HookRule is what results and records call the hook.
func (e *HookError) HookRule() string { return rule(e.Hook) }

func rule(hook string) string { return "script:" + hook }

package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/executor/environ"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
)

// admit is the third role check. It refuses without an origin.
func (h *handler) admit(ctx context.Context) (session.Origin, error) {
	origin, ok := session.FromContext(ctx)
	if !ok || !session.Effective(origin, func(roles.Caller) roles.Role { return h.opts.Role(origin) }).AtLeast(roles.Admin) {
		return session.Origin{}, tools.Denied("tool_shell.denied")
	}
	if !h.opts.Settings().Enabled || h.opts.Executor == nil {
		return session.Origin{}, tools.Denied("tool_shell.disabled")
	}
	return origin, nil
}

// plan checks the arguments and says what would run.
func (h *handler) plan(ctx context.Context, a args) (guard.Action, error) {
	origin, err := h.admit(ctx)
	if err != nil {
		return guard.Action{}, err
	}
	s := h.opts.Settings().withDefaults()
	*a.began = s
	if err := checkCommand(a.Command); err != nil {
		return guard.Action{}, err
	}
	limit, err := timeout(a.Timeout, s)
	if err != nil {
		return guard.Action{}, err
	}
	cwd, err := h.cwd(a.Cwd, s, origin)
	if err != nil {
		return guard.Action{}, err
	}
	if len(a.Stdin) > maxStdin {
		return guard.Action{}, tools.Invalid("tool_shell.stdin_long", "stdin", len(a.Stdin), maxStdin)
	}
	if err := environ.Check(a.Env, executor.EnvKey); err != nil {
		return guard.Action{}, invalidEnv(err)
	}
	return guard.Action{
		Command: a.Command, Shell: h.shell(s), Cwd: cwd, Timeout: limit, Env: variables(a.Env), Input: a.Stdin,
	}, nil
}

// maxStdin is the longest text for stdin, in bytes.
const maxStdin = 256 << 10

// variables are NAME=value, sorted.
func variables(env map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// invalidEnv says which parameter a refused variable was in.
func invalidEnv(err error) error {
	if e, ok := errors.AsType[*environ.Error](err); ok {
		return tools.Invalid(e.Code, e.Args...)
	}
	return err
}

func checkCommand(command string) error {
	switch {
	case strings.TrimSpace(command) == "":
		return tools.Invalid("tool_shell.command_blank", "command")
	case strings.IndexByte(command, 0) >= 0:
		return tools.Invalid("tool_shell.command_nul", "command")
	case len(command) > executor.MaxCommandBytes:
		return tools.Invalid("tool_shell.command_long", "command", len(command), executor.MaxCommandBytes)
	}
	return nil
}

// timeout is the duration that a call gets.
func timeout(seconds *float64, s Settings) (time.Duration, error) {
	if seconds == nil {
		return s.Timeout, nil
	}
	most := s.MaxTimeout.Seconds()
	if math.IsNaN(*seconds) || *seconds < minTimeout || *seconds > most {
		return 0, tools.OutOfRange("timeout_seconds", minTimeout, most, tools.Number(*seconds))
	}
	return time.Duration(*seconds * float64(time.Second)), nil
}

// cwd is the directory in which a call runs: absolute and there.
func (h *handler) cwd(asked string, s Settings, origin session.Origin) (string, error) {
	dir := asked
	switch {
	case dir != "":
	case s.Cwd != "":
		dir = s.Cwd
	case h.opts.DefaultDir != nil:
		dir = h.opts.DefaultDir(origin)
	default:
		own, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("own working directory: %w", err)
		}
		dir = own
	}
	full, err := tools.ExpandHome(dir)
	if err != nil {
		return "", err
	}
	return full, checkDir(dir, full)
}

// checkDir words what is wrong with a directory, whose name was given as asked.
func checkDir(asked, dir string) error {
	invalid := func(code string, more ...any) error {
		return tools.Invalid(code, append([]any{"cwd", tools.Clip(asked, 1000)}, more...)...)
	}
	if strings.IndexByte(dir, 0) >= 0 {
		return tools.Invalid("tool_shell.cwd_nul", "cwd")
	}
	if !filepath.IsAbs(dir) {
		return invalid("tool_shell.cwd_relative")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return invalid("tool_shell.cwd_missing")
	case err != nil:
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err // the message names the path already
		}
		return invalid("tool_shell.cwd_unusable", err)
	case !info.IsDir():
		return invalid("tool_shell.cwd_not_dir")
	}
	return nil
}

package shell

import (
	"context"
	"embed"
	"encoding/json"
	"strings"
	"time"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

//go:embed *.md
var docs embed.FS

// Executor runs one command to its end.
type Executor interface {
	Run(ctx context.Context, r executor.Request) executor.Result
}

// Settings are the [shell] section as it is at the time of a call.
type Settings struct {
	Enabled        bool
	Timeout        time.Duration // when a call names none; ≤ 0: 60 s
	MaxTimeout     time.Duration // ≤ 0: 3600 s
	MaxOutputChars int           // for each of stdout and stderr; 0: 8000
	Program        string        // the shell; empty: Options.DefaultShell
	Cwd            string        // when a call names none; empty: Options.DefaultDir
	KillGrace      time.Duration // 0: the executor's default; negative: none
	CodePage       string        // fallback encoding; empty: from the locale
	Env            []string      // NAME=value, for every command; a call's own come over them
}

// The defaults of Settings.
const (
	defaultTimeout    = 60 * time.Second
	defaultMaxTimeout = 3600 * time.Second
	defaultMaxChars   = 8000
	minTimeout        = 0.1 // seconds
)

func (s Settings) withDefaults() Settings {
	if s.Timeout <= 0 {
		s.Timeout = defaultTimeout
	}
	if s.MaxTimeout <= 0 {
		s.MaxTimeout = defaultMaxTimeout
	}
	s.Timeout = min(s.Timeout, s.MaxTimeout)
	if s.MaxOutputChars == 0 {
		s.MaxOutputChars = defaultMaxChars
	}
	s.MaxOutputChars = max(s.MaxOutputChars, executor.MinMaxChars)
	return s
}

// Options are what run_command works with. The zero value is valid and runs nothing.
type Options struct {
	Executor     Executor                        // nil: nothing runs
	Settings     func() Settings                 // asked when a call is planned; at its launch only for what became stricter; nil: disabled
	Role         func(session.Origin) roles.Role // the caller's role now; nil: nobody has one
	Texts        func() *texts.Catalog           // nil: message ids instead of sentences
	Redact       func(string) string             // the secret filter, for the command in the result; nil: none
	DefaultShell string                          // the shell when none is configured, as the executor names it
	DefaultDir   func(session.Origin) string     // where a command runs when nothing else says so; nil: our own directory
}

// args are the arguments of run_command.
type args struct {
	Command string            `json:"command" jsonschema:"shell text to run, up to 128000 bytes"`
	Timeout *float64          `json:"timeout_seconds,omitempty" jsonschema:"seconds after which the command and all it started are killed; at least 0.1; default and maximum are set by the operator (60 and 3600 unless changed)"`
	Cwd     string            `json:"cwd,omitempty" jsonschema:"directory to run in: an absolute path, or one that starts with ~; must exist"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"variables to add, as names and values; those that would change which program or code runs are refused"`
	Stdin   string            `json:"stdin,omitempty" jsonschema:"text that the command reads on its standard input; without it there is none"`

	began *Settings // those of the moment of plan, by which run goes on
}

// UnmarshalJSON reads the arguments of a call, which plan and run each get a copy of.
func (a *args) UnmarshalJSON(text []byte) error {
	type plain args
	a.began = new(Settings)
	return json.Unmarshal(text, (*plain)(a))
}

// aliases are the names that other agents use, and parameters that are not offered (empty).
func aliases() map[string]string {
	return map[string]string{
		"cmd": "command", "script": "command", "code": "command", "input_command": "command", "bash": "command", "shell_command": "command", "commands": "command",
		"workdir": "cwd", "working_directory": "cwd", "work_dir": "cwd", "dir": "cwd", "directory": "cwd", "path": "cwd", "current_dir": "cwd",
		"timeout": "timeout_seconds", "timeout_ms": "timeout_seconds", "timeout_secs": "timeout_seconds", "timeout_sec": "timeout_seconds", "max_time": "timeout_seconds",
		"background": "", "run_in_background": "", "is_background": "", "yield_ms": "", "pty": "", "tty": "", "environment": "env", "env_vars": "env", "input": "stdin",
		"host": "", "node": "", "security": "", "ask": "", "elevated": "", "sudo": "", "description": "", "shell": "", "session_id": "",
	}
}

// New makes run_command.
func New(o Options) (tools.Tool, error) {
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.Role == nil {
		o.Role = func(session.Origin) roles.Role { return roles.None }
	}
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	h := &handler{opts: o}
	text := tools.Text(docs, "run_command")
	return tools.Define(tools.Tool{
		Name:       "run_command",
		Role:       roles.Admin,
		Visibility: tools.Discoverable,
		Effects:    []guard.Effect{guard.Execute},
		Aliases:    aliases(),
		Refused:    h.refused,
		Description: func(lang string) string {
			return strings.ReplaceAll(text(lang), "{{shell}}", h.shell(o.Settings()))
		},
	}, h.plan, h.run)
}

// handler is the tool's state: none beside its options.
type handler struct {
	opts Options
}

// shell is the program that reads the command.
func (h *handler) shell(s Settings) string {
	if s.Program != "" {
		return s.Program
	}
	return h.opts.DefaultShell
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/texts"
)

// Exit codes of the command line. exec passes the command's own code through.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitTimeout   = 124 // as timeout(1)
	exitRefused   = 125 // nothing ran
	exitCancelled = 130 // as a shell reports SIGINT
)

// system is the operating system as maishell meets it; tests hand in their own.
type system struct {
	args     []string
	env      []string
	in       io.Reader
	out, err io.Writer
	terminal bool // in is a terminal that a person types at
	defaults []byte
	say      *texts.Catalog // what the command line speaks; nil: not known
}

// Main runs maishell with the process's own arguments and files and returns the exit code. It first takes the
// environment away from where other processes could read it.
func Main(defaults []byte) int {
	env := executor.TakeEnv()
	rememberProxies(env)
	return run(context.Background(), system{
		args:     os.Args[1:],
		env:      env,
		in:       os.Stdin,
		out:      os.Stdout,
		err:      os.Stderr,
		terminal: term.IsTerminal(int(os.Stdin.Fd())),
		defaults: defaults,
	})
}

// run executes one command line.
func run(ctx context.Context, sys system) int {
	say, err := texts.New(language(sys))
	if err != nil {
		fmt.Fprintln(sys.err, "maishell:", err)
		return exitFailed
	}
	sys.say = say
	root := newRoot(sys, say)
	root.SetArgs(sys.args)
	root.SetIn(sys.in)
	root.SetOut(sys.out)
	root.SetErr(sys.err)
	return exitCode(root.ExecuteContext(ctx), sys.err, say)
}

// language is what the command line speaks: as the settings that would be used say, else the locale's. Mistakes in the
// settings are no concern here: whoever loads them reports them.
func language(sys system) string {
	dir, _ := os.Getwd() // none: then there is no ./config.toml to look at
	if lang := config.PeekLanguage(config.Options{Path: configFlag(sys.args), Env: sys.env, Dir: dir}); lang != "" {
		return lang
	}
	return texts.Detect(sys.getenv)
}

// configFlag is the value of --config, before the command line is parsed.
func configFlag(args []string) string {
	path := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, "--config="); ok {
			path = value
		} else if arg == "--config" && i+1 < len(args) {
			path = args[i+1]
		}
	}
	return path
}

// exitError ends the process with a code after everything that had to be said was said.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func exitCode(err error, w io.Writer, say *texts.Catalog) int {
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return code.code
	}
	text := say.Error(err)
	if _, ok := errors.AsType[usageError](err); ok { // what was typed wrong is repeated in it
		fmt.Fprintln(w, "maishell: "+channels.RevealLine(text))
		return exitUsage
	}
	fmt.Fprintln(w, "maishell: "+text)
	return exitFailed
}

// usageError is a command line that cannot be understood.
type usageError struct {
	id   string
	args []any
}

func (e usageError) Error() string           { return e.id }
func (e usageError) TextID() (string, []any) { return e.id, e.args }

// failure is something that went wrong, in words of ours.
type failure struct {
	id   string
	args []any
}

func (f failure) Error() string           { return f.id + " " + fmt.Sprint(f.args...) }
func (f failure) TextID() (string, []any) { return f.id, f.args }

// withErr is s with another standard error.
func (s system) withErr(w io.Writer) system {
	s.err = w
	return s
}

func (s system) getenv(name string) string {
	for i := len(s.env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(s.env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

func newRoot(sys system, say *texts.Catalog) *cobra.Command {
	opts := &options{}
	root := &cobra.Command{
		Use:           "maishell",
		Short:         say.Say("app.root_short"),
		Long:          say.Say("app.root_long"),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().StringVar(&opts.config, "config", "", say.Say("app.flag_config"))
	root.PersistentFlags().StringVar(&opts.logLevel, "log-level", "warn", say.Say("app.flag_log_level"))
	root.AddCommand(
		newChat(sys, opts, say),
		newExec(sys, opts, say),
		newDoctor(sys, opts, say),
		newConfig(sys, opts, say),
		newAudit(sys, opts, say),
		newScripts(sys, opts, say),
		newExplain(sys, opts, say),
		newVersion(sys, say),
	)
	speak(root, sys, say)
	return root
}

// options are the flags that every command has.
type options struct {
	config   string
	logLevel string
}

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/shell"
)

// execFlags are exec's own flags. They become the arguments of run_command, so that the command line and a model meet
// the same checks and the same errors.
type execFlags struct {
	who     identity
	json    bool
	timeout string
	cwd     string
}

func newExec(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var f execFlags
	c := &cobra.Command{
		Use:   "exec [flags] -- COMMAND",
		Short: say.Say("app.exec_short"),
		Long:  say.Say("app.exec_long"),
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			err := refuseEmpty(c, "as", "group", "timeout", "cwd", "config")
			if err == nil {
				err = execCommand(c.Context(), sys, opts, f, args)
			}
			return f.refused(sys, say, err)
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		f.json = f.json || slices.Contains(sys.args, "--json") // flags behind the wrong one were not read
		return f.refused(sys, say, flagError(err))
	})
	c.Flags().BoolVar(&f.json, "json", false, say.Say("app.flag_json"))
	c.Flags().StringVar(&f.timeout, "timeout", "", say.Say("app.flag_timeout"))
	c.Flags().StringVar(&f.cwd, "cwd", "", say.Say("app.flag_cwd"))
	f.who.flags(c, say)
	return c
}

// refused reports whatever kept the command from running, in the form that was asked for, with the exit code of its own.
func (f *execFlags) refused(sys system, say *texts.Catalog, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[exitError](err); ok {
		return err
	}
	if !f.json {
		fmt.Fprintln(sys.err, "maishell: "+say.Error(err))
		return exitError{exitRefused}
	}
	r := tools.Result{Status: guard.StatusInternal, Error: say.Error(err), Body: shell.Body{}}
	if _, ok := errors.AsType[usageError](err); ok {
		r.Status = guard.StatusInvalidArgument
	}
	fmt.Fprintln(sys.out, string(r.JSON()))
	return exitError{exitRefused}
}

func execCommand(ctx context.Context, sys system, opts *options, f execFlags, words []string) (err error) {
	if err := refuseInside(sys); err != nil {
		return err
	}
	origin, err := f.who.origin(channelExec)
	if err != nil {
		return err
	}
	args, err := f.arguments(words)
	if err != nil {
		return err
	}
	ctx, stop := untilStopped(ctx, os.Interrupt)
	defer stop()
	rt, err := start(ctx, sys, opts, "exec", nil)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rt.close(); closeErr != nil { // the command ran all the same: its own exit code counts
			rt.log.Error("closing", "error", closeErr)
		}
	}()
	if err := rt.noteDisguise(ctx, origin); err != nil {
		return err
	}
	r := rt.registry.View(origin).Invoke(ctx, tools.Call{Origin: origin, Name: "run_command", Args: args})
	if f.json {
		_, err = fmt.Fprintln(sys.out, string(r.JSON()))
	} else {
		err = printRun(sys.out, sys.err, r)
	}
	code := runExit(r)
	if err != nil && code == nil { // the command ran; that its output went nowhere is a failure of ours
		fmt.Fprintln(sys.err, "maishell: "+rt.texts().Error(err))
		return exitError{exitFailed}
	}
	return code
}

// arguments writes the flags and the words after -- as run_command's JSON arguments.
func (f execFlags) arguments(words []string) (json.RawMessage, error) {
	if len(words) == 0 {
		return nil, usageError{id: "app.exec_needs_command"}
	}
	command, err := commandText(words)
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(command) { // JSON would replace the bytes, and another command would run
		return nil, usageError{id: "app.command_not_utf8"}
	}
	args := map[string]any{"command": command}
	if f.timeout != "" {
		args["timeout_seconds"] = f.timeout // run_command reads a numeric string as its number and words the error
	}
	if f.cwd != "" {
		dir := f.cwd
		if !strings.HasPrefix(dir, "~") { // a person at a prompt means his own directory by a relative path
			if dir, err = filepath.Abs(dir); err != nil {
				return nil, fmt.Errorf("resolve --cwd: %w", err)
			}
		}
		args["cwd"] = dir
	}
	return json.Marshal(args)
}

// commandText is the shell text: one word as it stands; several quoted, so that each arrives as it was given.
func commandText(words []string) (string, error) {
	if len(words) == 1 {
		return words[0], nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := quoteWord(w)
		if err != nil {
			return "", err
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " "), nil
}

// printRun writes the command's own output where it belongs, then what has to be said about the run.
func printRun(stdout, stderr io.Writer, r tools.Result) error {
	run, _ := r.Body.(shell.Body)
	said := run.Stderr
	if r.Rule == guard.RuleParse {
		said = "" // the error says the same
	}
	for _, line := range []string{r.Error, run.Note} {
		if line != "" {
			said += "maishell: " + line + "\n"
		}
	}
	return errors.Join(write(stdout, run.Stdout), write(stderr, said))
}

// write writes text unless there is none: even an empty write fails where nobody reads.
func write(w io.Writer, text string) error {
	if text == "" {
		return nil
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// runExit is the exit code that tells a script what became of the command.
func runExit(r tools.Result) error {
	switch r.Status {
	case guard.StatusOK:
		if r.Exit != nil && *r.Exit != 0 {
			return exitError{*r.Exit}
		}
		return nil
	case guard.StatusTimeout:
		return exitError{exitTimeout}
	case guard.StatusCancelled:
		return exitError{exitCancelled}
	}
	return exitError{exitRefused}
}

package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/texts"
)

func newConfig(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	c := &cobra.Command{Use: "config", PersistentPreRunE: func(*cobra.Command, []string) error { return refuseInside(sys) }, Short: say.Say("app.config_short"), Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(
		configInit(sys, opts, say),
		withJSON(say, &cobra.Command{Use: "path", Short: say.Say("app.config_path_short")},
			func(asJSON bool) error { return configPath(sys, opts, say, asJSON) }),
		withJSON(say, &cobra.Command{Use: "check", Short: say.Say("app.config_check_short")},
			func(asJSON bool) error { return configCheck(sys, opts, say, asJSON) }),
		configShow(sys, opts, say),
		&cobra.Command{Use: "schema", Short: say.Say("app.config_schema_short"), Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return configSchema(sys) }},
	)
	return c
}

// withJSON gives a command without arguments the flag --json.
func withJSON(say *texts.Catalog, c *cobra.Command, do func(asJSON bool) error) *cobra.Command {
	var asJSON bool
	c.Args = cobra.NoArgs
	c.RunE = func(*cobra.Command, []string) error { return do(asJSON) }
	c.Flags().BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	return c
}

func configInit(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var lang string
	c := &cobra.Command{Use: "init", Short: say.Say("app.config_init_short"), Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("--lang", lang, []string{"en", "zh"}); err != nil {
				return err
			}
			lang = orDefault(lang, say.Lang())
			return writeConfig(sys, opts, say, lang)
		}}
	c.Flags().StringVar(&lang, "lang", "", say.Say("app.flag_lang"))
	return c
}

// writeConfig writes the commented default to --config or the user's config directory; it never replaces a file.
func writeConfig(sys system, opts *options, say *texts.Catalog, lang string) error {
	text, err := config.Default(lang, sys.defaults)
	if err != nil {
		return err
	}
	path := opts.config
	if path == "" {
		dirs, err := config.UserDirs(sys.getenv)
		if err != nil {
			return err
		}
		path = filepath.Join(dirs.Config, "config.toml")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return unwritable(path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usageError{id: "app.config_exists", args: []any{path}}
	}
	if err != nil {
		return unwritable(path, err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return unwritable(path, err)
	}
	_, err = fmt.Fprintln(sys.out, say.Say("app.config_written", path))
	return err
}

// unwritable says why the configuration cannot be written to path.
func unwritable(path string, err error) error {
	return failure{id: "app.config_unwritable", args: []any{path, cause(err)}}
}

// cause is what the system said, without the path that the message around it names already.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func configPath(sys system, opts *options, say *texts.Catalog, asJSON bool) error {
	cfg, err := loadConfig(sys, opts)
	if err != nil {
		return err
	}
	files := cfg.Sources()
	if asJSON {
		return writeJSON(sys.out, map[string]any{"files": append([]string{}, files...)})
	}
	if len(files) == 0 {
		files = []string{say.Say("app.config_builtin")}
	}
	for _, f := range files {
		if _, err := fmt.Fprintln(sys.out, f); err != nil {
			return err
		}
	}
	return nil
}

// configCheck reports everything that a start would fail on.
func configCheck(sys system, opts *options, say *texts.Catalog, asJSON bool) error {
	cfg, err := loadConfig(sys, opts)
	if err == nil {
		err = errors.Join(unusable(cfg, sys)...)
	}
	if asJSON {
		out := map[string]any{"valid": err == nil, "problems": problems(say, err)}
		if writeErr := writeJSON(sys.out, out); writeErr != nil || err == nil {
			return writeErr
		}
		return exitError{exitFailed}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(sys.out, say.Say("app.config_ok"))
	return err
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// shownProblem is a problem in the JSON form of config check.
type shownProblem struct {
	Where string `json:"where,omitempty"` // FILE:LINE:COLUMN, FILE or the name of an environment variable
	Text  string `json:"text"`
}

// problems takes an error apart.
func problems(say *texts.Catalog, err error) []shownProblem {
	if err == nil {
		return []shownProblem{}
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the outermost is meant
		out := []shownProblem{}
		for _, e := range several.Unwrap() {
			out = append(out, problems(say, e)...)
		}
		return out
	}
	shown := shownProblem{Text: say.Error(err)}
	if p, ok := errors.AsType[*config.Problem](err); ok {
		shown.Where = p.Where
	}
	return []shownProblem{shown}
}

// unusable lists the settings that are right in form and yet do not work on this machine. It changes nothing.
func unusable(cfg *config.Config, sys system) []error {
	snap, err := newSnapshot(cfg, sys, nil)
	if err != nil {
		return []error{err}
	}
	var out []error
	for _, c := range []struct {
		key string
		err error
	}{
		{"files.workspace", badWorkspace(snap)},
		{"shell.cwd", badDir(cfg.Shell.Cwd)},
		{"shell.program", badProgram(cfg.Shell.Program, sys.env)},
	} {
		if c.err != nil {
			out = append(out, &config.Problem{Where: cfg.Origin(c.key), Code: "config.unusable", Args: []any{c.key, c.err}})
		}
	}
	return out
}

func badWorkspace(snap *snapshot) error {
	if err := snap.own.CheckWorkspace(snap.workspace); err != nil {
		return err
	}
	if info, err := os.Stat(snap.workspace); err == nil && !info.IsDir() {
		return failure{id: "app.workspace_failed", args: []any{snap.workspace, syscall.ENOTDIR}}
	}
	return nil
}

// badDir says why commands cannot start in dir; an empty one is not set.
func badDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &executor.Error{Code: "executor.cwd_missing", Args: []any{dir}}
	case err != nil:
		return &executor.Error{Code: "executor.cwd_unusable", Args: []any{dir, cause(err)}}
	case !info.IsDir():
		return &executor.Error{Code: "executor.cwd_not_dir", Args: []any{dir}}
	}
	return nil
}

// badProgram says whether the shell is nowhere to be found; an empty one is not set. That it runs only a start can tell.
func badProgram(program string, env []string) error {
	if program == "" {
		return nil
	}
	places := []string{""}
	if !strings.ContainsAny(program, `/\`) {
		places = searchPath(env)
	}
	for _, dir := range places {
		for _, ending := range []string{"", ".exe"} {
			if info, err := os.Stat(filepath.Join(dir, program+ending)); err == nil && !info.IsDir() {
				return nil
			}
		}
	}
	return &executor.Error{Code: "executor.shell_missing", Args: []any{program}}
}

// searchPath are the directories of PATH, which Windows writes in any case.
func searchPath(env []string) []string {
	var dirs []string
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); strings.EqualFold(name, "PATH") {
			dirs = append(dirs, filepath.SplitList(value)...)
		}
	}
	return dirs
}

func configShow(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "show", Short: say.Say("app.config_show_short"), Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := loadConfig(sys, opts)
			if err != nil {
				return err
			}
			return cfg.Show(sys.out, asJSON)
		}}
	c.Flags().BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	return c
}

func configSchema(sys system) error {
	schema, err := config.Schema(sys.defaults)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(sys.out, string(schema))
	return err
}

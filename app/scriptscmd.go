package app

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/scripts"
	"github.com/maishell/maishell/texts"
)

func newScripts(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	c := &cobra.Command{Use: "scripts", PersistentPreRunE: func(*cobra.Command, []string) error { return refuseInside(sys) }, Short: say.Say("app.scripts_short"), Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(
		scriptsList(sys, opts, say),
		&cobra.Command{Use: "check", Short: say.Say("app.scripts_check_short"), Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				_, set, err := loadScripts(sys, opts)
				if err != nil {
					return err
				}
				n, tests := count(set)
				_, err = fmt.Fprintln(sys.out, say.Say("app.scripts_ok", n, tests))
				return err
			}},
		&cobra.Command{Use: "test", Short: say.Say("app.scripts_test_short"), Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return scriptsTest(sys, opts, say) }},
		&cobra.Command{Use: "enable NAME", Short: say.Say("app.scripts_enable_short"), Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return scriptsChoose(sys, opts, say, args[0], true) }},
		&cobra.Command{Use: "disable NAME", Short: say.Say("app.scripts_disable_short"), Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return scriptsChoose(sys, opts, say, args[0], false) }},
	)
	return c
}

// loadScripts loads what is configured, for looking at it. The default directory need not be there yet.
func loadScripts(sys system, opts *options) (*snapshot, *scripts.Set, error) {
	cfg, err := loadConfig(sys, opts)
	if err != nil {
		return nil, nil, err
	}
	snap, err := newSnapshot(cfg, sys, nil)
	if err != nil {
		return nil, nil, err
	}
	set, err := snap.loadScripts()
	return snap, set, err
}

// loadScripts loads the scripts of a snapshot that nothing runs by. Shells are known by their names then.
func (s *snapshot) loadScripts() (*scripts.Set, error) { return s.loadScriptsAt(nil) }

// loadScriptsAt is loadScripts for another clock than the system's; nil: that one.
func (s *snapshot) loadScriptsAt(now func() time.Time) (*scripts.Set, error) {
	s.noScripts = s.scriptsMissing()
	o, err := scriptOptions(s, nil)
	if err != nil {
		return nil, err
	}
	o.Now = now
	return scripts.Load(o)
}

func count(set *scripts.Set) (n, tests int) {
	all := set.Scripts()
	for _, i := range all {
		tests += i.Tests
	}
	return len(all), tests
}

func scriptsList(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "list", Short: say.Say("app.scripts_list_short"), Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			snap, set, err := loadScripts(sys, opts)
			if err != nil {
				return err
			}
			if asJSON {
				return printScriptsJSON(sys.out, snap, set)
			}
			return printScripts(sys.out, say, snap, set)
		}}
	c.Flags().BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	return c
}

// off lists the shipped scripts that are not in use.
func off(set *scripts.Set) []string {
	all := set.Scripts()
	out := []string{}
	for _, name := range scripts.Shipped() {
		if !slices.ContainsFunc(all, func(i scripts.Info) bool { return i.Shipped && i.Name == name }) {
			out = append(out, name)
		}
	}
	return out
}

func printScriptsJSON(w io.Writer, snap *snapshot, set *scripts.Set) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]any{"dir": snap.scriptsDir, "scripts": set.Scripts(), "off": off(set)})
}

func printScripts(w io.Writer, say *texts.Catalog, snap *snapshot, set *scripts.Set) error {
	lines := []string{say.Say("app.scripts_dir", snap.scriptsDir)}
	for _, i := range set.Scripts() {
		var what []string
		for _, h := range i.Hooks {
			what = append(what, fmt.Sprintf("%s %q", h.Kind, h.Name))
		}
		for _, m := range i.Masks {
			what = append(what, fmt.Sprintf("mask %q", m))
		}
		lines = append(lines, fmt.Sprintf("%-20s %s  %s", i.Name, say.Say("app.scripts_in_use"), strings.Join(what, ", ")))
	}
	for _, name := range off(set) {
		lines = append(lines, fmt.Sprintf("%-20s %s", name, say.Say("app.scripts_off")))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

func scriptsTest(sys system, opts *options, say *texts.Catalog) error {
	_, set, err := loadScripts(sys, opts)
	if err != nil {
		return err
	}
	for _, i := range set.Scripts() {
		line := say.Say("app.scripts_tests", i.Name, i.Tests)
		if i.Tests == 0 {
			line = say.Say("app.scripts_no_tests", i.Name)
		}
		if _, err := fmt.Fprintln(sys.out, line); err != nil {
			return err
		}
	}
	return nil
}

// scriptsChoose says what to write to have a shipped script or not. The configuration belongs to the person who keeps it,
// comments and all: nothing here edits it.
func scriptsChoose(sys system, opts *options, say *texts.Catalog, name string, on bool) error {
	if all := scripts.Shipped(); !slices.Contains(all, name) {
		return usageError{id: "app.scripts_unknown", args: []any{name, strings.Join(all, ", ")}}
	}
	cfg, err := loadConfig(sys, opts)
	if err != nil {
		return err
	}
	list := slices.Clone(cfg.Scripts.Enable)
	if slices.Contains(list, name) == on {
		_, err := fmt.Fprintln(sys.out, say.Say("app.scripts_already", name))
		return err
	}
	if on {
		list = append(list, name)
	} else {
		list = slices.DeleteFunc(list, func(n string) bool { return n == name })
	}
	_, err = fmt.Fprintln(sys.out, chooseText(say, cfg, list))
	return err
}

func chooseText(say *texts.Catalog, cfg *config.Config, list []string) string {
	quoted := make([]string, len(list))
	for i, n := range list {
		quoted[i] = strconv.Quote(n)
	}
	file := say.Say("app.scripts_new_file")
	if files := cfg.Sources(); len(files) > 0 {
		file = files[0]
	}
	text := say.Say("app.scripts_write", file, "["+strings.Join(quoted, ", ")+"]")
	if strings.HasPrefix(cfg.Origin("scripts.enable"), "MAISHELL_") {
		text += "\n" + say.Say("app.scripts_env")
	}
	return text
}

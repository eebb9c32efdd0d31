package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/policy"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
)

// explanation is what would become of a command.
type explanation struct {
	Command  string    `json:"command"`
	Cwd      string    `json:"cwd"`
	Caller   string    `json:"caller"`
	Role     string    `json:"role"`
	Verdict  string    `json:"verdict"` // allow, confirm or deny
	Rule     string    `json:"rule,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Runs     []string  `json:"runs"`   // what the text would run, one line for each command
	Opaque   bool      `json:"opaque"` // the text can run more than that
	Rewrites []rewrite `json:"rewrites,omitempty"`
}

// rewrite is what a script would make of the command.
type rewrite struct {
	Rule    string  `json:"rule"`
	Command string  `json:"command"`
	Cwd     string  `json:"cwd"`
	Timeout float64 `json:"timeout_seconds"`
}

func newExplain(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var who identity
	var asJSON bool
	var cwd, at string
	c := &cobra.Command{
		Use: "explain [flags] 'COMMAND'", Short: say.Say("app.explain_short"), Long: say.Say("app.explain_long"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{id: "app.explain_needs_command"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			command, err := commandText(args)
			if err != nil {
				return err
			}
			origin, err := who.origin("explain")
			if err != nil {
				return err
			}
			e, catalog, err := explain(c.Context(), sys, opts, origin, command, cwd, at)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(sys.out)
				enc.SetEscapeHTML(false)
				return enc.Encode(e)
			}
			_, err = fmt.Fprintln(sys.out, e.text(catalog))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	c.Flags().StringVar(&cwd, "cwd", "", say.Say("app.flag_explain_cwd"))
	c.Flags().StringVar(&at, "at", "", say.Say("app.flag_explain_at"))
	who.flags(c, say)
	return c
}

// clockAt is a clock that stands still at a time as people write it, in the zone of [ui] timezone unless it names one; nil
// for an empty text.
func clockAt(text, zone string) (func() time.Time, error) {
	if text == "" {
		return nil, nil
	}
	where := time.Local
	if zone != "" {
		var err error
		if where, err = time.LoadLocation(zone); err != nil {
			return nil, fmt.Errorf("ui.timezone: %w", err)
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, where); err == nil {
			return func() time.Time { return at }, nil
		}
	}
	return nil, usageError{id: "app.bad_time", args: []any{text}}
}

// explain decides as the door would. The shells are known by their names: nothing is started, not even to ask one.
func explain(ctx context.Context, sys system, opts *options, o session.Origin, command, cwd, at string) (explanation, *texts.Catalog, error) {
	cfg, err := loadConfig(sys, opts)
	if err != nil {
		return explanation{}, nil, err
	}
	snap, err := newSnapshot(cfg, sys, nil)
	if err != nil {
		return explanation{}, nil, err
	}
	clock, err := clockAt(at, cfg.UI.Timezone)
	if err != nil {
		return explanation{}, nil, err
	}
	set, err := snap.loadScriptsAt(clock)
	if err != nil {
		return explanation{}, nil, err
	}
	shell, err := shellOf(sys, cfg)
	if err != nil {
		return explanation{}, nil, err
	}
	role := session.Effective(o, func(c roles.Caller) roles.Role { return snap.resolver.Resolve(c).Role })
	e := explanation{
		Command: command, Cwd: orDefault(cwd, snap.commandDir), Caller: o.Caller.Key(), Role: role.String(), Runs: []string{},
	}
	switch {
	case !role.AtLeast(roles.Admin):
		e.Verdict, e.Reason = guard.Deny.String(), snap.texts.Say("app.explain_refused_role")
		return e, snap.texts, nil
	case !cfg.Shell.Enabled:
		e.Verdict, e.Reason = guard.Deny.String(), snap.texts.Say("app.explain_disabled")
		return e, snap.texts, nil
	}
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return explanation{}, nil, err
	}
	a := guard.Action{
		Tool: "run_command", Effects: []guard.Effect{guard.Execute}, Command: command, Shell: shell, Cwd: e.Cwd, Args: args,
		Timeout: min(seconds(cfg.Shell.TimeoutSeconds), seconds(cfg.Shell.MaxTimeoutSeconds)),
	}
	d, steps, err := guard.Try(ctx, guard.Trial{
		Deciders: []guard.Decider{snap.own, &guard.CommandFloor{Own: snap.own, Binary: snap.binary, Home: snap.home}},
		Hooks:    set.Trial(),
		Asker: guard.Asker{
			Call: "explain", Platform: o.Caller.Platform, UserID: o.Caller.UserID, GroupID: o.Caller.GroupID, Role: role.String(),
			Session: o.Session,
		},
	}, a)
	if err != nil {
		return explanation{}, nil, err
	}
	e.decided(snap.texts, d)
	for _, s := range steps {
		e.Rewrites = append(e.Rewrites, rewrite{s.Rule, s.After.Command, s.After.Cwd, s.After.Timeout.Seconds()})
		a = s.After
	}
	e.analysed(a)
	return e, snap.texts, nil
}

// shellOf is the shell that commands would be read by.
func shellOf(sys system, cfg *config.Config) (string, error) {
	if cfg.Shell.Program != "" {
		return cfg.Shell.Program, nil
	}
	ex, err := executor.New(executor.Options{Env: sys.env})
	if err != nil {
		return "", err
	}
	return ex.Capabilities().Shell, ex.Close()
}

func (e *explanation) decided(say *texts.Catalog, d guard.Decision) {
	e.Verdict, e.Rule = d.Verdict.String(), d.Rule
	if d.Reason != "" {
		e.Reason = say.Say(d.Reason, d.Args...)
	}
}

// analysed lists what the text would run, as far as it shows.
func (e *explanation) analysed(a guard.Action) {
	if !guard.POSIXShell(a.Shell) {
		e.Opaque = true
		return
	}
	facts, err := policy.Parse(a.Command, policy.ShellDialect(a.Shell))
	if err != nil {
		return // the floor's decision says it
	}
	e.Opaque = facts.Opaque
	for _, c := range facts.Commands {
		words := []string{c.Program.Text}
		for _, w := range c.Args {
			words = append(words, w.Text)
		}
		e.Runs = append(e.Runs, strings.TrimSpace(strings.Join(words, " ")))
	}
}

// text words it for a person; a command's text cannot add lines.
func (e *explanation) text(say *texts.Catalog) string {
	lines := []string{say.Say("app.explain_role", e.Caller, e.Role)}
	for _, r := range e.Rewrites {
		lines = append(lines, say.Say("app.explain_rewrite", r.Rule, channels.RevealLine(r.Command), r.Cwd, r.Timeout))
	}
	for _, r := range e.Runs {
		if r != "" {
			lines = append(lines, say.Say("app.explain_runs", channels.RevealLine(r)))
		}
	}
	if e.Opaque {
		lines = append(lines, say.Say("app.explain_opaque"))
	}
	lines = append(lines, say.Say("app.explain_verdict", e.Verdict))
	switch {
	case e.Rule != "":
		lines = append(lines, say.Say("app.explain_rule", e.Rule, e.Reason))
	case e.Reason != "":
		lines = append(lines, e.Reason)
	}
	return strings.Join(lines, "\n")
}

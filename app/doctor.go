package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/policy"
	"github.com/maishell/maishell/redact"
	"github.com/maishell/maishell/store"
	"github.com/maishell/maishell/texts"
)

// finding is one line of doctor: what was looked at, how it stands, in words.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warn, fail
	Text  string `json:"text"`
}

// The states of a finding.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
)

func newDoctor(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var asJSON, online bool
	c := &cobra.Command{Use: "doctor", Short: say.Say("app.doctor_short"), Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return doctor(c.Context(), sys, opts, say, asJSON, online) }}
	c.Flags().BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	c.Flags().BoolVar(&online, "online", false, say.Say("app.flag_online"))
	return c
}

// doctor looks at everything a run needs and exits 1 when something would keep maishell from working.
func doctor(ctx context.Context, sys system, opts *options, say *texts.Catalog, asJSON, online bool) error {
	d := &examination{say: say, online: online}
	d.examine(ctx, sys, opts)
	if asJSON {
		enc := json.NewEncoder(sys.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]any{"ok": !d.failed(), "findings": d.findings}); err != nil {
			return err
		}
	} else if err := d.print(sys.out); err != nil {
		return err
	}
	if d.failed() {
		return exitError{exitFailed}
	}
	return nil
}

type examination struct {
	say      *texts.Catalog
	online   bool // others may be asked
	findings []finding
}

func (d *examination) add(check, state, id string, args ...any) {
	d.findings = append(d.findings, finding{check, state, d.say.Say(id, args...)})
}

// fail reports err under check and says whether there was one.
func (d *examination) fail(check string, err error) bool {
	if err != nil {
		d.findings = append(d.findings, finding{check, stateFail, d.say.Error(err)})
	}
	return err != nil
}

func (d *examination) failed() bool {
	for _, f := range d.findings {
		if f.State == stateFail {
			return true
		}
	}
	return false
}

func (d *examination) print(w io.Writer) error {
	for _, f := range d.findings {
		if _, err := fmt.Fprintf(w, "%-4s  %-10s  %s\n", f.State, f.Check, f.Text); err != nil {
			return err
		}
	}
	return nil
}

func (d *examination) examine(ctx context.Context, sys system, opts *options) {
	d.add("version", stateOK, "app.doctor_version", version())
	cfg, err := loadConfig(sys, opts)
	if d.fail("config", err) {
		return
	}
	files := strings.Join(cfg.Sources(), ", ")
	d.add("config", stateOK, "app.doctor_config", orDefault(files, d.say.Say("app.config_builtin")))
	snap, err := newSnapshot(cfg, sys, nil)
	if d.fail("settings", err) {
		return
	}
	for _, err := range unusable(cfg, sys) {
		d.fail("settings", err)
	}
	if badWorkspace(snap) == nil {
		d.add("workspace", stateOK, "app.doctor_workspace", snap.workspace)
	}
	if set, err := snap.loadScripts(); !d.fail("scripts", err) {
		n, tests := count(set)
		d.add("scripts", stateOK, "app.doctor_scripts", n, snap.scriptsDir, tests)
		if snap.noScripts {
			d.add("scripts", stateOK, "app.doctor_no_scripts", snap.scriptsDir)
		}
	}
	d.examineStore(ctx, snap)
	d.examineExecutor(ctx, sys, snap)
	d.examineModel(ctx, sys, snap)
	d.examineAccount(snap)
}

func (d *examination) examineStore(ctx context.Context, snap *snapshot) {
	s, err := store.Open(ctx, store.Options{Dir: snap.storeDir})
	if d.fail("store", err) {
		return
	}
	defer func() { d.fail("store", s.Close()) }()
	report, err := s.Verify(ctx)
	if d.fail("audit", err) {
		return
	}
	d.add("store", stateOK, "app.doctor_store", snap.storeDir)
	if d.fail("audit", report.Err()) {
		return
	}
	d.findings = append(d.findings, finding{"audit", stateOK, verified(d.say, report)})
}

func (d *examination) examineExecutor(ctx context.Context, sys system, snap *snapshot) {
	ex, err := executor.New(executor.Options{Env: sys.env, Redact: (*redact.Set)(nil)})
	if d.fail("executor", err) {
		return
	}
	defer func() { d.fail("executor", ex.Close()) }()
	d.examineShell(ctx, ex, snap)
	caps := ex.Capabilities()
	switch caps.KillMethod {
	case "cgroup", "job":
		d.add("kill", stateOK, "app.kill_"+caps.KillMethod)
	default:
		d.add("kill", stateWarn, "app.doctor_kill_weak", d.say.Say("app.kill_"+caps.KillMethod), caps.WhyNot)
	}
}

// examineShell runs a command, unless it was found already that the settings do not allow that.
func (d *examination) examineShell(ctx context.Context, ex *executor.Executor, snap *snapshot) {
	if badDir(snap.config.Shell.Cwd) != nil {
		return
	}
	shell := orDefault(snap.config.Shell.Program, ex.Capabilities().Shell)
	r := ex.Run(ctx, executor.Request{
		RunID: "doctor", Owner: "doctor", Shell: shell, Dir: snap.commandDir, Command: "echo maishell", Timeout: seconds(10),
	})
	if out := strings.TrimSpace(r.Stdout.Head); r.Status != executor.OK || out != "maishell" {
		cause := string(r.Status)
		if r.Err != nil {
			cause = d.say.Error(r.Err)
		}
		d.add("shell", stateFail, "app.doctor_shell_fails", shell, cause)
		return
	}
	name := "POSIX"
	if (&dialects{exec: ex}).of(shell) == policy.Bash {
		name = "bash"
	}
	d.add("shell", stateOK, "app.doctor_shell", shell, name, r.Duration.Round(10_000))
}

// examineAccount looks at whose rights commands will have.
func (d *examination) examineAccount(snap *snapshot) {
	if os.Geteuid() == 0 {
		d.add("account", stateWarn, "app.doctor_root")
	} else {
		d.add("account", stateOK, "app.doctor_account")
	}
	if !snap.config.Shell.Enabled {
		d.add("shell", stateWarn, "app.doctor_shell_off")
	}
	d.add("own_files", stateWarn, "app.doctor_own_files")
}

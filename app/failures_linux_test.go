package app

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
)

// failureCase is one entry of testdata/failures.toml.
type failureCase struct {
	Name        string
	Needs       string   // a program that it is made of
	Setup       string   // run before, by a shell
	HostEnv     []string `toml:"host_env"`
	CodePage    string   `toml:"code_page"`
	Command     string
	Cwd         string
	Env         map[string]string
	Stdin       string
	Timeout     float64
	Status      string // empty: ok
	ExitCode    *int   `toml:"exit_code"` // missing: 0 when the status is ok
	Signal      string
	Stdout      *string
	Stderr      *string
	StdoutHas   []string `toml:"stdout_has"`
	StdoutLacks []string `toml:"stdout_lacks"`
	StderrHas   []string `toml:"stderr_has"`
	ErrorHas    []string `toml:"error_has"`
	Truncated   bool
	Within      float64  // seconds; 0: four more than the timeout
	File        []string // a name and what must be in it
}

// shellResult is what run_command answers, as its users read it.
type shellResult struct {
	Success   bool
	Status    string
	Error     string
	ExitCode  *int `json:"exit_code"`
	Stdout    string
	Stderr    string
	Signal    string
	TimedOut  bool `json:"timed_out"`
	Truncated bool
}

// What made others fail comes out right here, through the whole pipeline; a timeout leaves no process behind.
func TestFailuresOfOthers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "failures.toml"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Case []failureCase }
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&all); err != nil {
		t.Fatal(err)
	}
	if len(all.Case) < 58 {
		t.Fatalf("only %d cases", len(all.Case))
	}
	shared := failureCase{}.runtime(t, "")
	for _, f := range all.Case {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(f.Needs); f.Needs != "" && err != nil {
				t.Skip(err)
			}
			f.try(t, shared)
		})
	}
}

// runtime is what the case runs in.
func (f failureCase) runtime(t *testing.T, dir string) *runtime {
	t.Helper()
	state := t.TempDir()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + state, "LANG=C.UTF-8", "MAISHELL_STORE__DIR=" + state + "/state", "MAISHELL_FILES__WORKSPACE=" + state + "/files",
	}
	if f.CodePage != "" {
		env = append(env, "MAISHELL_SHELL__CODE_PAGE="+f.CodePage)
	}
	for _, kv := range f.HostEnv {
		env = append(env, strings.ReplaceAll(kv, "@DIR@", dir))
	}
	return quietRuntime(t, env)
}

func (f failureCase) try(t *testing.T, rt *runtime) {
	dir := t.TempDir()
	here := func(s string) string { return strings.ReplaceAll(s, "@DIR@", dir) }
	if f.Setup != "" {
		setup := exec.CommandContext(t.Context(), "/bin/sh", "-c", f.Setup)
		setup.Dir = dir
		if out, err := setup.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if len(f.HostEnv) > 0 || f.CodePage != "" {
		rt = f.runtime(t, dir)
	}
	args := map[string]any{"command": here(f.Command), "cwd": dir}
	if f.Cwd != "" {
		args["cwd"] = f.Cwd
	}
	if f.Env != nil {
		args["env"] = f.Env
	}
	if f.Stdin != "" {
		args["stdin"] = f.Stdin
	}
	limit := 20 * time.Second
	if f.Timeout > 0 {
		args["timeout_seconds"] = f.Timeout
		limit = time.Duration((f.Timeout + 4) * float64(time.Second))
	}
	if f.Within > 0 {
		limit = time.Duration(f.Within * float64(time.Second))
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	origin := session.Origin{Caller: roles.Caller{Platform: roles.LocalPlatform, UserID: "test"}, Session: session.NewID(), Channel: "test"}
	begun := time.Now()
	answer := rt.registry.View(origin).Invoke(t.Context(), tools.Call{Origin: origin, Name: "run_command", Args: raw}).JSON()
	if took := time.Since(begun); took > 5*limit { // the machine may be busy
		t.Errorf("took %v", took)
	}
	f.check(t, answer, dir)
	if f.Status == "timeout" {
		if left := standingIn(dir); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

func (f failureCase) check(t *testing.T, answer []byte, dir string) {
	t.Helper()
	var r shellResult
	if err := json.Unmarshal(answer, &r); err != nil || !utf8.Valid(answer) {
		t.Fatalf("%v: %.300s", err, answer)
	}
	want := f.Status
	if want == "" {
		want = "ok"
	}
	code := f.ExitCode
	if code == nil && want == "ok" {
		code = new(int)
	}
	if r.Status != want || r.Success != (want == "ok") || r.TimedOut != (want == "timeout") || r.Truncated != f.Truncated || r.Signal != f.Signal && f.Signal != "" {
		t.Errorf("%.500s", answer)
	}
	if code != nil && (r.ExitCode == nil || *r.ExitCode != *code) {
		t.Errorf("exit code: %.500s", answer)
	}
	if f.Stdout != nil && r.Stdout != *f.Stdout || f.Stderr != nil && r.Stderr != *f.Stderr {
		t.Errorf("stdout %.300q, stderr %.300q", r.Stdout, r.Stderr)
	}
	for _, c := range []struct {
		text  string
		parts []string
		has   bool
	}{{r.Stdout, f.StdoutHas, true}, {r.Stdout, f.StdoutLacks, false}, {r.Stderr, f.StderrHas, true}, {r.Error, f.ErrorHas, true}} {
		for _, part := range c.parts {
			if strings.Contains(c.text, part) != c.has {
				t.Errorf("%q (want %v) in %.300q … %q", part, c.has, c.text, c.text[max(0, len(c.text)-100):])
			}
		}
	}
	if len(answer) > 100_000 {
		t.Errorf("%d bytes", len(answer))
	}
	if len(f.File) == 2 {
		if got, err := os.ReadFile(filepath.Join(dir, f.File[0])); err != nil || string(got) != f.File[1] {
			t.Errorf("%s: %q %v", f.File[0], got, err)
		}
	}
}

// standingIn are the processes whose working directory is dir.
func standingIn(dir string) []string {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	var found []string
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && at == dir {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline")) // of a zombie: nothing
			if len(name) > 0 {
				found = append(found, string(name))
			}
		}
	}
	return found
}

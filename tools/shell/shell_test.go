package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/internal/tooltest"
	"github.com/maishell/maishell/tools/shell"
)

// recorder stands for the executor: it remembers requests and gives a fixed answer.
type recorder struct {
	mu       sync.Mutex
	requests []executor.Request
	answer   executor.Result
}

func (r *recorder) Run(_ context.Context, req executor.Request) executor.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req)
	return r.answer
}

func (r *recorder) last(t *testing.T) executor.Request {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.requests) == 0 {
		t.Fatal("nothing was run")
	}
	return r.requests[len(r.requests)-1]
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

type env struct {
	*tools.View
	run      *recorder
	door     *tooltest.Door
	rank     *tooltest.Rank
	settings *shell.Settings
	tool     tools.Tool
}

func setup(t *testing.T, lang string) *env {
	t.Helper()
	zero := 0
	e := &env{
		run:      &recorder{answer: executor.Result{Status: executor.OK, ExitCode: &zero, Started: time.Now()}},
		door:     &tooltest.Door{},
		rank:     tooltest.NewRank(roles.Admin),
		settings: &shell.Settings{Enabled: true, Timeout: 60 * time.Second, MaxTimeout: 3600 * time.Second, MaxOutputChars: 200},
	}
	cat := tooltest.Catalog(t, lang)
	var err error
	e.tool, err = shell.New(shell.Options{
		Executor: e.run, Settings: func() shell.Settings { return *e.settings }, Role: e.rank.Of, Texts: cat, DefaultShell: "/bin/sh",
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "***") },
	})
	if err != nil {
		t.Fatal(err)
	}
	e.View = tooltest.Registry(t, e.door, e.rank.Of, cat, e.tool).View(tooltest.Origin())
	return e
}

func ptr(n int) *int { return &n }

func TestRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := setup(t, "en")
	e.settings.Program, e.settings.KillGrace, e.settings.CodePage = "/bin/other", time.Second, "gbk"
	got := tooltest.Call(t, e.View, "run_command", tooltest.Args(t, "command", "  echo hunter2hunter2\n", "timeout_seconds", "2.5", "cwd", dir))
	req := e.run.last(t)
	want := executor.Request{RunID: req.RunID, Owner: "s1", Command: "  echo hunter2hunter2\n", Shell: "/bin/other", Dir: dir, Timeout: 2500 * time.Millisecond, KillGrace: time.Second, MaxChars: 200, CodePage: "gbk"}
	if fmt.Sprint(req) != fmt.Sprint(want) || req.RunID == "" {
		t.Errorf("request %+v, want %+v", req, want)
	}
	if got["run_id"] != req.RunID || got["command"] != "  echo ***\n" || got["cwd"] != dir || got["success"] != true || got["exit_code"] != 0.0 {
		t.Errorf("%v", got)
	}
	act := e.door.Actions()[0]
	if act.Command != req.Command || act.Shell != "/bin/other" || act.Cwd != dir || !slices.Equal(act.Effects, []guard.Effect{guard.Execute}) {
		t.Errorf("action %+v", act)
	}
	e.settings.Program, e.settings.Cwd = "", dir
	tooltest.Call(t, e.View, "run_command", `{"command":"x"}`)
	if req := e.run.last(t); req.Shell != "/bin/sh" || req.Dir != dir || req.Timeout != time.Minute {
		t.Errorf("defaults: %+v", req)
	}
	e.settings.Timeout = 2 * time.Hour // above the maximum
	tooltest.Call(t, e.View, "run_command", `{"command":"x"}`)
	if req := e.run.last(t); req.Timeout != time.Hour {
		t.Errorf("default above the maximum: %v", req.Timeout)
	}
	*e.settings = shell.Settings{Enabled: true}
	own, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Call(t, e.View, "run_command", `{"command":"x"}`)
	if req := e.run.last(t); req.Timeout != time.Minute || req.MaxChars != 8000 || req.Dir != own {
		t.Errorf("zero settings: %+v", req)
	}
	e.settings.Cwd = filepath.Join(dir, "gone")
	if got := tooltest.Call(t, e.View, "run_command", `{"command":"x"}`); got["status"] != "invalid_argument" || !strings.Contains(got.Text("error"), e.settings.Cwd) {
		t.Errorf("%v", got)
	}
}

func TestHomeDirectory(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	e := setup(t, "en")
	for asked, want := range map[string]string{"~": home, "~/sub": filepath.Join(home, "sub")} {
		tooltest.Call(t, e.View, "run_command", tooltest.Args(t, "command", "x", "cwd", asked))
		if got := e.run.last(t).Dir; got != want {
			t.Errorf("%s became %s", asked, got)
		}
	}
}

func TestOnlyAdminsWhateverTheCaller(t *testing.T) {
	t.Parallel()
	e := setup(t, "en")
	for _, role := range []roles.Role{roles.None, roles.Guest, roles.User} {
		e.rank.Set(role)
		if got := tooltest.Call(t, e.View, "run_command", `{"command":"x"}`); got["status"] != "permission_denied" || !strings.Contains(got.Text("error"), "permission denied") {
			t.Errorf("%s: %v", role, got)
		}
		if len(e.List()) != 0 {
			t.Errorf("%s sees run_command", role)
		}
	}
	e.rank.Set(roles.Admin)
	if got := tooltest.Call(t, e.View, "run_command", `{"command":"x"}`); got["status"] != "ok" {
		t.Fatalf("%v", got)
	}
	if got := e.run.count(); got != 1 {
		t.Errorf("%d runs", got)
	}
	e.settings.Enabled = false
	if got := tooltest.Call(t, e.View, "run_command", `{"command":"x"}`); got["success"] != false || !strings.Contains(got.Text("error"), "not available") {
		t.Errorf("disabled: %v", got)
	}
	e.settings.Enabled = true
	e.door.Judge = func(guard.Action) *guard.Refusal { e.settings.Enabled = false; return nil }
	if got := tooltest.Call(t, e.View, "run_command", `{"command":"x"}`); got["success"] != false {
		t.Errorf("disabled while it waited: %v", got)
	}
	if got := e.run.count(); got != 1 {
		t.Errorf("%d runs", got)
	}
	// The third check alone: a registry that believes everybody to be admin.
	e.settings.Enabled, e.door.Judge = true, nil
	e.rank.Set(roles.User)
	generous := tooltest.Registry(t, e.door, func(session.Origin) roles.Role { return roles.Admin }, nil, e.tool).View(tooltest.Origin())
	if got := tooltest.Call(t, generous, "run_command", `{"command":"x"}`); got["status"] != "permission_denied" || e.run.count() != 1 {
		t.Errorf("third check: %v", got)
	}
	// A sub-agent of an admin has no run_command at all.
	e.rank.Set(roles.Admin)
	narrow := tooltest.Registry(t, e.door, e.rank.Of, nil, e.tool).View(tooltest.Origin(), tools.Narrow())
	if got := tooltest.Call(t, narrow, "run_command", `{"command":"x"}`); got["status"] != "permission_denied" || len(narrow.List()) != 0 || e.run.count() != 1 {
		t.Errorf("sub-agent: %v", got)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	started := time.Now()
	whole := func(s string) executor.Output { return executor.Output{Head: s, TotalBytes: int64(len(s))} }
	tests := []struct {
		name   string
		res    executor.Result
		status string
		code   any
		en, zh []string // in error or note
		check  func(a tooltest.Answer) bool
	}{
		{"fine", executor.Result{Status: executor.OK, ExitCode: ptr(0), Stdout: whole("hi\n"), Started: started, Duration: 123456 * time.Microsecond}, "ok", 0.0, nil, nil,
			func(a tooltest.Answer) bool {
				return a["stdout"] == "hi\n" && a["duration_seconds"] == 0.123 && a["note"] == nil && a["error"] == nil && a["signal"] == nil && a["background_pids"] == nil
			}},
		{"exit code is a result", executor.Result{Status: executor.OK, ExitCode: ptr(3), Started: started}, "ok", 3.0, nil, nil, func(a tooltest.Answer) bool { return a["success"] == true }},
		{"timeout", executor.Result{Status: executor.Timeout, ExitCode: ptr(143), Signal: "SIGTERM", Stdout: whole("part"), Started: started, Silent: 1940 * time.Millisecond}, "timeout", 143.0,
			[]string{"timed out (2.5 s)", "did run", "there was no output in the last 1.9 s"}, []string{"命令执行超时（2.5 秒），已强制终止进程树", "确实运行过", "最后 1.9 秒没有输出"},
			func(a tooltest.Answer) bool {
				return a["timed_out"] == true && a["stdout"] == "part" && a["success"] == false && a["signal"] == "SIGTERM"
			}},
		{"killed while it wrote", executor.Result{Status: executor.Timeout, ExitCode: ptr(143), Started: started, Silent: 40 * time.Millisecond}, "timeout", 143.0, []string{"did run"}, nil,
			func(a tooltest.Answer) bool { return !strings.Contains(a.Text("note"), " 0 s") }},
		{"cancelled", executor.Result{Status: executor.Cancelled, Stdout: whole("part"), Started: started}, "cancelled", nil, []string{"was cancelled", "did run"}, []string{"已取消", "确实运行过"},
			func(a tooltest.Answer) bool {
				return a["timed_out"] == false && a["stdout"] == "part" && a.Text("run_id") != ""
			}},
		{"cancelled in the queue", executor.Result{Status: executor.Cancelled}, "cancelled", nil, []string{"before the command was started"}, []string{"启动前已取消"},
			func(a tooltest.Answer) bool { return a["note"] == nil && a["run_id"] == "" }},
		{"not started", executor.Result{Status: executor.SpawnFailed, Err: &executor.Error{Code: "tool_shell.cwd_missing", Args: []any{"cwd", "/x"}}}, "spawn_failed", nil, []string{"/x"}, []string{"工作目录"},
			func(a tooltest.Answer) bool { return a["run_id"] == "" }},
		{"invalid", executor.Result{Status: executor.Invalid, Err: &executor.Error{Code: "tool_shell.command_nul", Args: []any{"command"}}}, "invalid_argument", nil, []string{"NUL"}, nil, nil},
		{"without an error", executor.Result{Status: executor.SpawnFailed}, "spawn_failed", nil, nil, nil, nil},
		{"unknown status", executor.Result{Status: "dancing"}, "internal", nil, []string{"dancing"}, nil, nil},
		{"signal", executor.Result{Status: executor.OK, ExitCode: ptr(139), Signal: "SIGSEGV", Started: started}, "ok", 139.0, nil, nil,
			func(a tooltest.Answer) bool { return a["signal"] == "SIGSEGV" && a["note"] == nil }},
		{"left over", executor.Result{Status: executor.OK, ExitCode: ptr(0), LeftPIDs: []int{7, 8}, Started: started}, "ok", 0.0, []string{"left running in the background (stop with kill): 7 8"}, []string{"仍在后台运行（可用 kill 结束）：7 8"},
			func(a tooltest.Answer) bool { return fmt.Sprint(a["background_pids"]) == "[7 8]" }},
	}
	for _, tt := range tests {
		for lang, want := range map[string][]string{"en": tt.en, "zh": tt.zh} {
			e := setup(t, lang)
			e.run.answer = tt.res
			got := tooltest.Call(t, e.View, "run_command", `{"command":"x","timeout_seconds":2.5}`)
			if got["status"] != tt.status || got["exit_code"] != tt.code || got["success"] != (tt.status == "ok") || tt.check != nil && !tt.check(got) {
				t.Errorf("%s: %v", tt.name, got)
			}
			for _, w := range want {
				if !strings.Contains(got.Text("error")+got.Text("note"), w) {
					t.Errorf("%s: %v, want %q", tt.name, got, w)
				}
			}
		}
	}
}

func TestTruncation(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{"en": "characters truncated", "zh": "截断"} {
		e := setup(t, lang)
		out := executor.Output{Head: strings.Repeat("头", 100), Tail: strings.Repeat("尾", 100), OmittedChars: 123456, TotalBytes: 1 << 20}
		e.run.answer = executor.Result{Status: executor.OK, ExitCode: ptr(0), Started: time.Now(), Stdout: out, Stderr: out}
		got := tooltest.Call(t, e.View, "run_command", `{"command":"x"}`)
		for _, key := range []string{"stdout", "stderr"} {
			text := got.Text(key)
			if n := len([]rune(text)); n > 200 || n < 150 {
				t.Errorf("%s: %s has %d characters", lang, key, n)
			}
			if strings.Count(text, want) != 1 || !strings.HasPrefix(text, "头") || !strings.HasSuffix(text, "尾") {
				t.Errorf("%s: %s = %q", lang, key, text)
			}
		}
		if got["truncated"] != true {
			t.Errorf("%s: %v", lang, got)
		}
	}
}

func TestRefusalOfTheGuard(t *testing.T) {
	t.Parallel()
	e := setup(t, "en")
	e.door.Judge = func(guard.Action) *guard.Refusal {
		return &guard.Refusal{Status: guard.StatusPolicyDenied, Rule: "parse", Reason: "tools.denied", Args: []any{"that", "admin", "user"}, Stderr: "1:6: reached EOF without closing quote", ExitCode: ptr(2)}
	}
	got := tooltest.Call(t, e.View, "run_command", `{"command":"echo 'abc"}`)
	if got["status"] != "policy_denied" || got["exit_code"] != 2.0 || got["stderr"] != "1:6: reached EOF without closing quote\n" || got["command"] != "echo 'abc" || got["rule"] != "parse" || got["run_id"] != "" {
		t.Errorf("%v", got)
	}
	e.door.Judge = func(guard.Action) *guard.Refusal {
		return &guard.Refusal{Status: guard.StatusPolicyDenied, Rule: "parse", Reason: "policy.char_bidi", Args: []any{1, 6, "U+202E"}, Stderr: "refused: policy.char_bidi U+202E", ExitCode: ptr(2)}
	}
	got = tooltest.Call(t, e.View, "run_command", `{"command":"echo \u202ex"}`)
	if text := got.Text("stderr"); strings.Contains(text, "policy.") || !strings.Contains(text, "U+202E") {
		t.Errorf("%v", got)
	}
	if e.run.count() != 0 {
		t.Error("it ran")
	}
}

// A call that is refused before anything is planned still says which command it was about, as far as it can be read.
func TestRefusalBeforeAPlanNamesTheCommand(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	for args, want := range map[string][2]string{
		`{"command":"id","cwd":"/tmp","timeout_seconds":"soon"}`: {"id", "/tmp"},
		`{"command":"id","cwd":"/does/not/exist"}`:               {"id", "/does/not/exist"},
		`{"command":"` + long + `","timeout_seconds":0}`:         {long, ""},
		`{"command":7,"cwd":"/tmp"}`:                             {"", "/tmp"},
		`{"cmd":"id"}`:                                           {"", ""},
		`{`:                                                      {"", ""},
	} {
		e := setup(t, "en")
		got := tooltest.Call(t, e.View, "run_command", args)
		if got["status"] != "invalid_argument" || got["command"] != want[0] || got["cwd"] != want[1] {
			t.Errorf("%.80s: %.200v, want %.80v", args, got, want)
		}
	}
}

func TestDescriptionNamesTheShell(t *testing.T) {
	t.Parallel()
	e := setup(t, "en")
	for _, lang := range []string{"en", "zh"} {
		text := e.tool.Description(lang)
		if !strings.Contains(text, "/bin/sh") || strings.Contains(text, "{{") || strings.Count(text, "\n") > 24 {
			t.Errorf("%s: %s", lang, text)
		}
		if strings.Contains(text, "until ") || strings.Contains(text, "while true") {
			t.Errorf("%s: teaches endless loops", lang)
		}
		for _, want := range []string{"timeout_seconds", "tail", "cwd", "-y"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: does not speak of %s", lang, want)
			}
		}
	}
	e.settings.Program = "/usr/bin/fish"
	if !strings.Contains(e.tool.Description("zh"), "/usr/bin/fish") {
		t.Error("a changed shell is not named")
	}
}

func TestResultKeysAreTheContract(t *testing.T) {
	t.Parallel()
	e := setup(t, "en")
	res := e.Invoke(t.Context(), tools.Call{Name: "run_command", Args: json.RawMessage(`{"command":"x"}`)})
	want := []string{`"success"`, `"status"`, `"run_id"`, `"command"`, `"cwd"`, `"exit_code"`, `"stdout"`, `"stderr"`, `"timed_out"`, `"truncated"`, `"duration_seconds"`}
	rest := string(res.JSON())
	for _, key := range want {
		_, after, ok := strings.Cut(rest, key+":")
		if !ok {
			t.Fatalf("%s is missing or out of order in %s", key, res.JSON())
		}
		rest = after
	}
}

//go:build unix

package shell_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools/internal/tooltest"
	"github.com/maishell/maishell/tools/shell"
)

func TestWithTheRealExecutor(t *testing.T) {
	ex, err := executor.New(executor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	}()
	cat, rank, dir := tooltest.Catalog(t, "zh"), tooltest.NewRank(roles.Admin), t.TempDir()
	tool, err := shell.New(shell.Options{
		Executor: ex, Role: rank.Of, Texts: cat, DefaultShell: ex.Capabilities().Shell,
		Settings: func() shell.Settings { return shell.Settings{Enabled: true, MaxOutputChars: 500, Cwd: dir} },
	})
	if err != nil {
		t.Fatal(err)
	}
	v := tooltest.Registry(t, &tooltest.Door{}, rank.Of, cat, tool).View(tooltest.Origin())
	run := func(kv ...any) tooltest.Answer {
		t.Helper()
		return tooltest.Call(t, v, "run_command", tooltest.Args(t, kv...))
	}

	if got := run("command", "echo hi | tr a-z A-Z; pwd; echo err >&2; exit 3"); got["success"] != true || got["exit_code"] != 3.0 || !strings.HasPrefix(got.Text("stdout"), "HI\n") || got["stderr"] != "err\n" || got["timed_out"] != false {
		t.Errorf("%v", got)
	}
	if got := run("command", "no-such-program-here"); got["exit_code"] != 127.0 || !strings.Contains(got.Text("note"), "找不到命令") {
		t.Errorf("%v", got)
	}
	start := time.Now()
	if got := run("command", "echo part; sleep 30; true", "timeout_seconds", 0.3); got["status"] != "timeout" || got["stdout"] != "part\n" || !strings.Contains(got.Text("error"), "命令执行超时（0.3 秒），已强制终止进程树") || !strings.Contains(got.Text("note"), "确实运行过") {
		t.Errorf("%v", got)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("a timeout of 0.3 s took %v", d)
	}
	if got := run("command", "seq 1 20000"); got["truncated"] != true || strings.Count(got.Text("stdout"), "截断") != 1 || len([]rune(got.Text("stdout"))) > 500 || !strings.HasPrefix(got.Text("stdout"), "1\n2\n") || !strings.HasSuffix(got.Text("stdout"), "20000\n") {
		t.Errorf("%v", got)
	}
	got := run("command", "sleep 30 & echo hi")
	if got["stdout"] != "hi\n" || got["exit_code"] != 0.0 || !strings.Contains(got.Text("note"), "仍在后台运行") {
		t.Errorf("%v", got)
	}
	pids, _ := got["background_pids"].([]any)
	if len(pids) != 1 {
		t.Fatalf("background_pids %v", got["background_pids"])
	}
	if err := syscall.Kill(int(pids[0].(float64)), syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

//go:build unix

package executor

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// call is one command with what must come of it. Times are bounds that a loaded machine keeps too.
type call struct {
	name    string
	command string
	shell   string
	timeout time.Duration // 0: a minute
	status  Status        // empty: OK
	code    int
	signal  string
	stdout  string // exact, unless has is set
	has     string
	stderr  string
	left    int // left-over processes
	max     time.Duration
}

func calls() []call {
	const quick = 5 * time.Second
	return []call{
		{name: "plain", command: "echo hi", stdout: "hi\n"},
		{name: "both streams", command: "echo out; echo note >&2", stdout: "out\n", stderr: "note\n"},
		{name: "exit code", command: "exit 3", code: 3},
		{name: "own 124", command: "exit 124", code: 124},
		{name: "killed", command: "kill -9 $$", code: 137, signal: "SIGKILL", max: quick},
		{name: "segfault", command: "kill -SEGV $$", code: 139, signal: "SIGSEGV", max: quick},
		{name: "not found", command: "no-such-program-here 2>/dev/null", code: 127},
		{name: "pipeline hides failure", command: "sh -c 'echo 2 failed; exit 1' | tail -1", stdout: "2 failed\n"},
		{name: "pipe closed early", command: "yes | head -n 1", stdout: "y\n"},
		{name: "unclosed quote", command: "echo 'abc", code: 2, has: "", stderr: "*", max: quick},
		{name: "exclamation mark", command: `printf '%s|%s' ' != ' "a != b"`, stdout: " != |a != b"},
		{name: "heredoc", command: "cat <<'EOF'\n$x 'y'\n`z` $(w)\nEOF", stdout: "$x 'y'\n`z` $(w)\n"},
		{name: "comment at the end", command: "echo hi # note", stdout: "hi\n"},
		{name: "line continuation", command: "echo a \\\n  b", stdout: "a b\n"},
		{name: "substitution", command: "echo `echo in` $(echo \"two  spaces\" | tr -s ' ')", stdout: "in two spaces\n"},
		{name: "no unescaping", command: `printf '%s\n' '\"a\"' "\$HOME" '\n'`, stdout: "\\\"a\\\"\n$HOME\n\\n\n"},
		{name: "leading dash", command: "-x() { echo dash; }; -x", has: "", code: 2, stderr: "*"},
		{name: "leading dash in bash", shell: "bash", command: "-x() { echo dash; }; -x", stdout: "dash\n"},
		{name: "leading plus", command: "+x 2>/dev/null || echo plus", stdout: "plus\n"},
		{name: "leading option", command: "-c 2>/dev/null || echo text", stdout: "text\n"},
		{name: "null stdin", command: "[ -p /dev/stdin ] || echo no pipe; read -r x; echo $?", stdout: "no pipe\n1\n", max: quick},
		{name: "no terminal", command: "(echo leak > /dev/tty) 2>/dev/null && echo opened || echo no-tty", stdout: "no-tty\n"},
		{name: "bash reads no start-up files", shell: "bash", command: "echo $0 $-", stdout: "bash hBc\n"},
		{name: "working directory", command: "pwd; echo $PWD", stdout: "@TMP@\n@TMP@\n"},
		{name: "removes its directory", command: "mkdir @TMP@/x && cd @TMP@/x && rmdir @TMP@/x; echo still", stdout: "still\n"},
		{name: "background child holds both pipes", command: "sleep 30 & echo hi", stdout: "hi\n", left: 1, max: quick},
		{name: "background child holds stderr", command: "sleep 30 </dev/null >/dev/null & echo up", stdout: "up\n", left: 1, max: quick},
		{name: "background child holds nothing", command: "sleep 30 </dev/null >/dev/null 2>&1 & echo up", stdout: "up\n", left: 1, max: quick},
		{name: "escaped background child", command: "setsid sleep 30 & sleep 0.2; echo up", stdout: "up\n", left: 1, max: quick},
		{name: "chatty background child", command: "(while :; do echo x; done) & sleep 0.1", has: "x\n", left: 1, max: quick},
		{name: "closes its own streams", command: "echo out; exec >&- 2>&-; sleep 0.2; exit 4", stdout: "out\n", code: 4, max: quick},
		{name: "long line", command: "echo before; head -c 300000 /dev/zero | tr '\\0' a; echo; echo after", has: "after\n"},
		{name: "deadline, shell forked", timeout: time.Second, command: "echo PROGRESS; echo warn >&2; sleep 20; true", status: Timeout,
			code: 143, signal: "SIGTERM", stdout: "PROGRESS\n", stderr: "warn\n", max: quick},
		{name: "deadline, job and wait", timeout: time.Second, command: "sleep 20 & wait", status: Timeout, code: 143, signal: "SIGTERM", max: quick},
		{name: "deadline, subshell", timeout: time.Second, command: "(sleep 20); true", status: Timeout, code: 143, signal: "SIGTERM", max: quick},
		{name: "deadline, pipeline", timeout: time.Second, command: "sleep 20 | cat", status: Timeout, code: 143, signal: "SIGTERM", max: quick},
		{name: "deadline, SIGTERM ignored", timeout: time.Second, command: "trap '' TERM; sleep 20; echo done", status: Timeout,
			code: 137, signal: "SIGKILL", max: quick},
		{name: "deadline, exits 0 on SIGTERM", timeout: time.Second, command: "trap 'exit 0' TERM; sleep 30 & wait", status: Timeout, max: quick},
		{name: "deadline, stopped group", timeout: time.Second, command: "kill -STOP 0; echo never", status: Timeout, code: 143, signal: "SIGTERM", max: quick},
		{name: "deadline, never quiet", timeout: time.Second, command: "yes", status: Timeout, code: 143, signal: "SIGTERM", has: "y\n", max: quick},
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for _, method := range killMethods() {
		e := newExecutor(t, method, Options{})
		for _, c := range calls() {
			t.Run(method+"/"+c.name, func(t *testing.T) { c.check(t, e) })
		}
	}
}

func (c call) check(t *testing.T, e *Executor) {
	req := request(t, c.command)
	req.Shell = c.shell
	if c.timeout > 0 {
		req.Timeout = c.timeout
	}
	start := time.Now()
	r := e.Run(t.Context(), req)
	took := time.Since(start)
	killLater(t, r.LeftPIDs)
	if want := cmp.Or(c.status, OK); r.Status != want {
		t.Fatalf("status %q, want %q: %v", r.Status, want, r.Err)
	}
	if r.ExitCode == nil || *r.ExitCode != c.code || r.Signal != c.signal {
		t.Errorf("exit code %v, signal %q; want %d, %q", deref(r.ExitCode), r.Signal, c.code, c.signal)
	}
	stdout, want := r.Stdout.Head+r.Stdout.Tail, strings.ReplaceAll(c.stdout, "@TMP@", req.Dir)
	if c.has != "" && !strings.Contains(stdout, c.has) || c.has == "" && stdout != want {
		t.Errorf("stdout %.200q, want %q", stdout, want+c.has)
	}
	if stderr := r.Stderr.Head; c.stderr != "*" && stderr != c.stderr || c.stderr == "*" && stderr == "" {
		t.Errorf("stderr %q, want %q", stderr, c.stderr)
	}
	if len(r.LeftPIDs) != c.left {
		t.Errorf("left running: %v, want %d", r.LeftPIDs, c.left)
	}
	if c.max > 0 && took > c.max+c.timeout {
		t.Errorf("took %v", took)
	}
	if r.Duration <= 0 || r.Duration > took || r.Silent < 0 || r.Silent > r.Duration {
		t.Errorf("duration %v, silent %v of %v", r.Duration, r.Silent, took)
	}
}

func deref(code *int) any {
	if code == nil {
		return nil
	}
	return *code
}

func TestTermTrapRuns(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		req := request(t, "trap 'echo cleaned >> @TMP@/c; exit 143' TERM; sleep 30")
		req.Timeout, req.KillGrace = 300*time.Millisecond, 20*time.Second
		if r := e.Run(t.Context(), req); r.Status != Timeout || deref(r.ExitCode) != 143 || r.Duration > 10*time.Second {
			t.Errorf("%s, exit code %v after %v", r.Status, deref(r.ExitCode), r.Duration)
		}
		text, err := os.ReadFile(filepath.Join(req.Dir, "c"))
		if err != nil || string(text) != "cleaned\n" {
			t.Errorf("%q %v: the trap must run, and once", text, err)
		}
	})
}

// TestTeeOutlivesBash: the output comes through a process that writes it after bash ended. How soon is up to the
// scheduler, so on a loaded machine one of several tries has to do.
func TestTeeOutlivesBash(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		for range 20 {
			req := request(t, "exec > >(tee @TMP@/t.log) 2>&1; sleep 30 & echo ok")
			req.Shell = "bash"
			r := e.Run(t.Context(), req)
			killLater(t, r.LeftPIDs)
			if r.Status != OK || len(r.LeftPIDs) == 0 || r.Duration > 5*time.Second {
				t.Fatal(r.Status, r.Err, r.LeftPIDs, r.Duration)
			}
			if r.Stdout.Head == "ok\n" {
				return
			}
		}
		t.Error("the output was never there")
	})
}

func TestNoGrace(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		req := request(t, "trap 'exit 3' TERM; sleep 30 & wait")
		req.Timeout, req.KillGrace = 300*time.Millisecond, -1
		if r := e.Run(t.Context(), req); r.Status != Timeout || r.Signal != "SIGKILL" {
			t.Errorf("%s, signal %q, exit code %v", r.Status, r.Signal, deref(r.ExitCode))
		}
	})
}

func TestStateDoesNotCarryOver(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		for range 25 {
			for command, want := range map[string]string{
				"head -c 5000 /dev/zero | tr '\\0' A": strings.Repeat("A", 5000),
				"echo B":                              "B\n",
				"cd / && false":                       "",
			} {
				if r := e.Run(t.Context(), request(t, command)); r.Stdout.Head != want {
					t.Fatalf("%s: %q", command, r.Stdout.Head)
				}
			}
		}
	})
}

// TestLeftOverLivesOn has a left-over child write on long after its result was taken.
func TestLeftOverLivesOn(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		req := request(t, `(i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; echo line $i >&2; done; echo end > @TMP@/end) &
			sleep 30 & echo $! > @TMP@/pid`)
		r := e.Run(t.Context(), req)
		killLater(t, pidsIn(t, filepath.Join(req.Dir, "pid")))
		if r.Status != OK || len(r.LeftPIDs) == 0 {
			t.Fatal(r.Status, r.LeftPIDs, r.Err)
		}
		eventually(t, "the child wrote everything", func() bool {
			_, err := os.Stat(filepath.Join(req.Dir, "end"))
			return err == nil
		})
	})
}

//go:build unix

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		code   string
		change func(*Request)
	}{
		"empty":             {codeCommandEmpty, func(r *Request) { r.Command = "" }},
		"NUL":               {codeCommandNUL, func(r *Request) { r.Command = "echo \x00" }},
		"too long":          {codeCommandLong, func(r *Request) { r.Command = strings.Repeat(":", MaxCommandBytes+1) }},
		"no timeout":        {codeTimeout, func(r *Request) { r.Timeout = 0 }},
		"negative timeout":  {codeTimeout, func(r *Request) { r.Timeout = -1 }},
		"few characters":    {codeMaxChars, func(r *Request) { r.MaxChars = 99 }},
		"negative":          {codeMaxChars, func(r *Request) { r.MaxChars = -1 }},
		"no directory":      {codeCwdRelative, func(r *Request) { r.Dir = "" }},
		"relative":          {codeCwdRelative, func(r *Request) { r.Dir = "tmp" }},
		"missing":           {codeCwdMissing, func(r *Request) { r.Dir = "/this/does/not/exist" }},
		"file":              {codeCwdNotDir, func(r *Request) { r.Dir = file }},
		"below a file":      {codeCwdNotDir, func(r *Request) { r.Dir = file + "/x" }},
		"NUL in directory":  {codeCwdInvalid, func(r *Request) { r.Dir = "/tmp\x00" }},
		"NUL in run id":     {codeEnvInvalid, func(r *Request) { r.RunID = "a\x00b" }},
		"NUL in shell":      {codeShellInvalid, func(r *Request) { r.Shell = "/bin/sh\x00" }},
		"variable, no name": {codeEnvInvalid, func(r *Request) { r.Env = []string{"=x"} }},
		"variable, no sign": {codeEnvInvalid, func(r *Request) { r.Env = []string{"x"} }},
		"variable, NUL":     {codeEnvInvalid, func(r *Request) { r.Env = []string{"x=\x00"} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request(t, "echo > @TMP@/ran")
			ran := filepath.Join(req.Dir, "ran")
			req.Started = func(int) { t.Error("something was started") }
			c.change(&req)
			r := e.Run(t.Context(), req)
			if r.Status != Invalid || r.Err == nil || r.Err.Code != c.code || r.ExitCode != nil {
				t.Errorf("%s %v %v, want %s", r.Status, r.Err, deref(r.ExitCode), c.code)
			}
			if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
				t.Error("the command ran")
			}
		})
	}
}

func TestLongestCommand(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{})
	const head, tail = ": ", "; echo end"
	req := request(t, head+strings.Repeat("x", MaxCommandBytes-len(head)-len(tail))+tail)
	if r := e.Run(t.Context(), req); r.Stdout.Head != "end\n" {
		t.Error(r.Status, r.Err, r.Stdout)
	}
	req = request(t, "echo '\xff\xfe'") // not UTF-8, and passed on as it is
	if r := e.Run(t.Context(), req); r.Stdout.TotalBytes != 3 {
		t.Error(r.Status, r.Err, r.Stdout)
	}
}

func TestSpawnFailures(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		text := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(text, []byte("no program"), 0o755); err != nil {
			t.Fatal(err)
		}
		plain := filepath.Join(t.TempDir(), "plain")
		if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cases := map[string]struct {
			code   string
			change func(*Request)
		}{
			"missing":          {codeShellMissing, func(r *Request) { r.Shell = "/no/such/shell" }},
			"missing in PATH":  {codeShellMissing, func(r *Request) { r.Shell = "no-such-shell" }},
			"no program":       {codeShellUnusable, func(r *Request) { r.Shell = text }},
			"not executable":   {codeShellUnusable, func(r *Request) { r.Shell = plain }},
			"directory":        {codeShellUnusable, func(r *Request) { r.Shell = "/tmp" }},
			"long environment": {codeArgsTooLong, func(r *Request) { r.Env = []string{"X=" + strings.Repeat("x", 8<<20)} }},
		}
		for name, c := range cases {
			req := request(t, "true")
			c.change(&req)
			if r := e.Run(t.Context(), req); r.Status != SpawnFailed || r.Err == nil || r.Err.Code != c.code {
				t.Errorf("%s: %s %v, want %s", name, r.Status, r.Err, c.code)
			}
		}
		before := e.Capabilities().KillMethod
		if r := e.Run(t.Context(), request(t, "echo fine")); r.Stdout.Head != "fine\n" {
			t.Error(r.Status, r.Err)
		}
		if after := e.Capabilities().KillMethod; after != before {
			t.Errorf("kill method turned from %s to %s", before, after)
		}
	})
}

func TestRandomRunID(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{})
	req := request(t, "echo $MAISHELL_RUN_ID")
	req.RunID = ""
	first, second := e.Run(t.Context(), req).Stdout.Head, e.Run(t.Context(), req).Stdout.Head
	if len(first) < 20 || first == second {
		t.Errorf("%q, then %q", first, second)
	}
}

func TestStartedHook(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{})
	req := request(t, "echo $$")
	var pids []int
	req.Started = func(pid int) { pids = append(pids, pid) }
	if r := e.Run(t.Context(), req); len(pids) != 1 || r.Stdout.Head != fmt.Sprintln(pids[0]) {
		t.Error(r.Stdout.Head, pids, r.Err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req := request(t, "true")
		req.Started = func(int) { t.Error("something was started") }
		if r := e.Run(ctx, req); r.Status != Cancelled || r.ExitCode != nil || r.Err != nil {
			t.Error("before the launch:", r.Status, r.Err)
		}

		ctx, cancel = context.WithCancel(t.Context())
		req = request(t, "echo begun; echo $$ > @TMP@/pids; sleep 30 & wait")
		done := make(chan Result, 1)
		go func() { done <- e.Run(ctx, req) }()
		eventually(t, "the command is under way", func() bool {
			text, _ := os.ReadFile(filepath.Join(req.Dir, "pids"))
			return len(text) > 0
		})
		cancel()
		r := <-done
		if r.Status != Cancelled || r.Stdout.Head != "begun\n" || r.Duration > 20*time.Second {
			t.Error("while it runs:", r.Status, r.Stdout, r.Duration, r.Err)
		}
		if pids := pidsIn(t, filepath.Join(req.Dir, "pids")); slices.ContainsFunc(pids, running) {
			t.Error("still running:", pids)
		}
	})
}

func TestQueue(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{MaxRunning: 1})
	// One holds the only place until its file appears.
	hold := request(t, "while [ ! -e @TMP@/go ]; do sleep 0.01; done")
	held := make(chan int, 1)
	hold.Started = func(pid int) { held <- pid }
	var wg sync.WaitGroup
	wg.Go(func() { e.Run(t.Context(), hold) })
	<-held

	var mu sync.Mutex
	var order []string
	queued := 0
	enqueue := func(ctx context.Context, owner string, want Status) {
		req := request(t, "true")
		req.Owner = owner
		req.Started = func(int) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, owner)
		}
		wg.Go(func() {
			if r := e.Run(ctx, req); r.Status != want {
				t.Error(owner, r.Status, r.Err)
			}
		})
		queued++
		eventually(t, "it is queued", func() bool { return waitingIn(e.queue) == queued })
	}
	for range 4 {
		enqueue(t.Context(), "a", OK)
	}
	ctx, cancel := context.WithCancel(t.Context())
	enqueue(ctx, "c", Cancelled)
	for range 2 {
		enqueue(t.Context(), "b", OK)
	}
	cancel()
	eventually(t, "the cancelled one left the queue", func() bool { return waitingIn(e.queue) == queued-1 })
	if err := os.WriteFile(filepath.Join(hold.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if got := strings.Join(order, ""); got != "ababaa" {
		t.Errorf("order %s", got)
	}
}

func waitingIn(q *queue) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, line := range q.waiting {
		n += len(line)
	}
	return n
}

func TestSetMaxRunning(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{MaxRunning: 1})
	dir := t.TempDir()
	var wg sync.WaitGroup
	started := make(chan int, 3)
	for range 3 {
		req := request(t, "while [ ! -e "+dir+"/go ]; do sleep 0.01; done")
		req.Started = func(pid int) { started <- pid }
		wg.Go(func() { e.Run(t.Context(), req) })
	}
	<-started
	eventually(t, "two wait", func() bool { return waitingIn(e.queue) == 2 && len(started) == 0 })
	e.SetMaxRunning(3)
	<-started
	<-started
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

func TestClose(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, _ *Executor) {
		e := newExecutor(t, filepath.Base(t.Name()), Options{MaxRunning: 1})
		req := request(t, "sleep 30 & echo $! > @TMP@/pid; echo hi")
		left := e.Run(t.Context(), req)
		killLater(t, left.LeftPIDs)

		started := make(chan int, 1)
		running1, queued := make(chan Result), make(chan Result)
		busy := request(t, "sleep 30; true")
		busy.Started = func(pid int) { started <- pid }
		go func() { running1 <- e.Run(t.Context(), busy) }()
		pid := <-started
		go func() { queued <- e.Run(t.Context(), request(t, "true")) }()
		eventually(t, "it is queued", func() bool { return waitingIn(e.queue) == 1 })

		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if r := <-running1; r.Status != Cancelled || running(pid) {
			t.Error("running:", r.Status, running(pid))
		}
		if r := <-queued; r.Status != Cancelled {
			t.Error("queued:", r.Status)
		}
		if r := e.Run(t.Context(), request(t, "true")); r.Status != SpawnFailed || r.Err.Code != codeClosed {
			t.Error("after:", r.Status, r.Err)
		}
		if len(left.LeftPIDs) != 1 || !running(left.LeftPIDs[0]) {
			t.Error("the left-over child is gone:", left.LeftPIDs)
		}
	})
}

func TestKillGuards(t *testing.T) {
	t.Parallel()
	var sent []int
	s := newSignaller()
	s.send = func(pid int, _ syscall.Signal) error {
		sent = append(sent, pid)
		return nil
	}
	for _, n := range []int{0, 1, -1, -5, s.group} {
		if err := s.toGroup(n, syscall.SIGKILL); !errors.Is(err, errGuarded) {
			t.Errorf("group %d: %v", n, err)
		}
	}
	for _, n := range []int{0, 1, -1, -5, s.self} {
		if err := s.toProcess(n, syscall.SIGKILL); !errors.Is(err, errGuarded) {
			t.Errorf("process %d: %v", n, err)
		}
	}
	if len(sent) > 0 {
		t.Fatal("system calls were made:", sent)
	}
	if err := errors.Join(s.toGroup(12345, syscall.SIGTERM), s.toProcess(12346, syscall.SIGTERM)); err != nil || !slices.Equal(sent, []int{-12345, 12346}) {
		t.Error(sent, err)
	}
}

func TestShellArgs(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"/bin/sh":       {"sh", "-c", "x"},
		"/usr/bin/bash": {"bash", "--norc", "--noprofile", "-c", "x"},
		"zsh":           {"zsh", "-f", "-c", "x"},
	}
	for shell, want := range cases {
		if got := shellArgs(shell, "x"); !slices.Equal(got, want) {
			t.Error(shell, got)
		}
	}
	if got := shellArgs("/bin/sh", "-x"); !slices.Equal(got, []string{"sh", "-c", "--", "-x"}) {
		t.Error(got)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	host := []string{
		"HOME=/home/me", "LANG=C.UTF-8", "LC_CTYPE=C", "LC_SECRET=x", "TERM=xterm", "PAGER=less", "BASH_ENV=/rc", "ENV=/rc", "LD_PRELOAD=x.so",
		"FAKE_API_KEY=key", "https_proxy=http://me:pass@proxy", "SSH_AUTH_SOCK=/s", "PROMPT_COMMAND=x", "BASH_FUNC_ls%%=() { x; }", "HOME=/second",
	}
	e := newExecutor(t, killMethods()[0], Options{Env: host})
	req := request(t, "env")
	req.Env = []string{"LANG=de_DE", "ADDED=1", "ADDED=2", "MAISHELL_RUN_ID=forged", "PWD=/forged"}
	want := []string{
		"HOME=/home/me", "LC_CTYPE=C", "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=", "GIT_TERMINAL_PROMPT=0",
		"DEBIAN_FRONTEND=noninteractive", "MAISHELL=1", "PATH=" + defaultPath, "LANG=de_DE", "ADDED=2", "PWD=" + req.Dir, "MAISHELL_RUN_ID=" + req.RunID,
	}
	got := strings.Fields(e.Run(t.Context(), req).Stdout.Head)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestTakeEnv(t *testing.T) {
	t.Parallel()
	cmd := helperCommand(t, "takeenv", "tr '\\0' '\\n' < /proc/$PPID/environ", "env")
	cmd.Env = append(cmd.Env, fakeKey)
	out := output(t, cmd)
	if !strings.HasPrefix(out, "known true own false\n") {
		t.Errorf("the program itself must know the key: %.200s", out)
	}
	if strings.Contains(out, "sk-test") || strings.Contains(out, helperEnv) || !strings.Contains(out, "PATH=") {
		t.Errorf("a command can read:\n%s", out)
	}
}

func TestReexec(t *testing.T) {
	t.Parallel()
	cmd := helperCommand(t, "reexec", "-a", "b c")
	cmd.Env = append(cmd.Env, fakeKey)
	out := output(t, cmd)
	if !strings.HasPrefix(out, "handed over true [-a b c]\n") {
		t.Errorf("%.200s", out)
	}
	if strings.Contains(out, "sk-test") {
		t.Errorf("a command can read:\n%s", out)
	}
}

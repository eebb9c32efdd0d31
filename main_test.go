package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/maishell/maishell/app"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"maishell": func() { os.Exit(app.Main(defaults)) },
	})
}

// TestScripts runs the promises of the README as a person would type them. Each script has its own home, state and
// workspace, and starts where no configuration lies.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("LANG", "en_US.UTF-8")
			env.Setenv("MAISHELL_STORE__DIR", filepath.Join(env.WorkDir, "state"))
			env.Setenv("MAISHELL_FILES__WORKSPACE", filepath.Join(env.WorkDir, "files"))
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfile":   waitFile,
			"gone":       gone,
			"within":     within,
			"fakemodel":  fakeModel,
			"fakeproxy":  fakeProxy,
			"onterminal": onTerminal,
		},
	})
}

// waitFile FILE waits until the file exists and ends in a newline.
func waitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfile FILE")
	}
	name := ts.MkAbs(args[0])
	until(ts, 10*time.Second, "file "+name, func() bool {
		b, err := os.ReadFile(name)
		return err == nil && bytes.HasSuffix(b, []byte("\n"))
	})
}

// gone FILE waits until none of the process ids in the file is alive; with ! it checks that all of them are.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] gone FILE")
	}
	var pids []int
	for _, f := range strings.Fields(ts.ReadFile(args[0])) {
		pid, err := strconv.Atoi(f)
		ts.Check(err)
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		ts.Fatalf("%s names no process", args[0])
	}
	if neg {
		for _, pid := range pids {
			if !alive(pid) {
				ts.Fatalf("process %d is gone", pid)
			}
		}
		return
	}
	until(ts, 5*time.Second, "end of the processes "+strings.TrimSpace(ts.ReadFile(args[0])), func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	})
}

// within DURATION COMMAND... runs a program and fails when it takes longer. The program's exit status is not looked at.
func within(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: within DURATION COMMAND...")
	}
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	start := time.Now()
	_ = ts.Exec(args[1], args[2:]...) // the exit status of a command that timed out is not 0
	if took := time.Since(start); took > limit {
		ts.Fatalf("took %v, want at most %v", took, limit)
	}
}

func until(ts *testscript.TestScript, limit time.Duration, what string, done func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); !done(); <-tick.C {
		if time.Now().After(deadline) {
			ts.Fatalf("still waiting after %v for: %s", limit, what)
		}
	}
}

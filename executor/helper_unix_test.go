//go:build unix

package executor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helperMain is this binary as a program of its own, see helperEnv.
func helperMain(name string) int {
	switch name {
	case "run": // runs its arguments one after the other and shows what they print
		return helperRun(os.Args[1:])
	case "takeenv": // the same, after TakeEnv; first says whether it knows the key itself
		return helperTakeEnv()
	case "reexec":
		return helperReexec()
	}
	return helperSystem(name)
}

func helperRun(commands []string) int {
	e, err := New(Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, command := range commands {
		r := e.Run(context.Background(), Request{RunID: "helper", Command: command, Dir: "/", Timeout: time.Minute})
		fmt.Print(r.Stdout.Head, r.Stderr.Head)
		if r.Err != nil {
			fmt.Println(r.Status, r.Err)
		}
	}
	if err := e.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func helperTakeEnv() int {
	full := TakeEnv()
	fmt.Println("known", slices.Contains(full, fakeKey), "own", os.Getenv("FAKE_API_KEY") != "")
	return helperRun(os.Args[1:])
}

func helperReexec() int {
	if full := handedOver(); full != nil {
		fmt.Println("handed over", slices.Contains(full, fakeKey), os.Args[1:])
		return helperRun([]string{"tr '\\0' '\\n' < /proc/$PPID/environ"})
	}
	keep := append(allowlisted(os.Environ()), helperEnv+"=reexec")
	fmt.Println(reexec(os.Environ(), keep))
	return 1
}

const fakeKey = "FAKE_API_KEY=sk-test-0123456789abcdef"

// helperCommand returns this binary as a program that plays name.
func helperCommand(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+name)
	return cmd
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("did not happen: ", what)
		}
	}
}

// eachMethod runs a test with every way to end a tree that this host allows.
func eachMethod(t *testing.T, test func(t *testing.T, e *Executor)) {
	for _, method := range killMethods() {
		t.Run(method, func(t *testing.T) {
			test(t, newExecutor(t, method, Options{}))
		})
	}
}

// request returns a request in a directory of its own. @TMP@ in the command stands for it.
func request(t testing.TB, command string) Request {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		RunID:   strings.ReplaceAll(t.Name(), "/", "-") + strconv.FormatInt(time.Now().UnixNano(), 36),
		Command: strings.ReplaceAll(command, "@TMP@", dir),
		Dir:     dir,
		Timeout: time.Minute,
	}
}

// pidsIn reads the numbers in a file.
func pidsIn(t testing.TB, path string) []int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// killLater ends left-over processes of a test.
func killLater(t testing.TB, pids []int) {
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = newSignaller().toProcess(pid, syscall.SIGKILL)
		}
		eventually(t, "left-over processes are gone", func() bool {
			return !slices.ContainsFunc(pids, running)
		})
	})
}

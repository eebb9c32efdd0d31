package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func helperSystem(name string) int {
	switch name {
	case "fewfiles": // runs a command with almost no descriptors left, and one after that
		return helperFewFiles()
	case "init": // is process 1 of a container
		return helperInit()
	}
	return 2
}

func helperFewFiles() int {
	e, err := New(Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = e.Close() }()
	req := Request{RunID: "few", Command: "true", Dir: "/", Timeout: time.Minute}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		fmt.Println(err)
		return 1
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	codes := map[string]bool{}
	for n := len(entries) - 2; n < len(entries)+12; n++ {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(n), Max: old.Max}); err != nil {
			fmt.Println(err)
			return 1
		}
		r := e.Run(context.Background(), req)
		if r.Err != nil {
			codes[r.Err.Code] = true
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(codes, e.Run(context.Background(), req).Status)
	return 0
}

func helperInit() int {
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		fmt.Println("skip:", err)
		return 0
	}
	e, err := New(Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = e.Close() }()
	req := Request{RunID: "init", Command: "sleep 0.05 & setsid sleep 0.05 & true", Dir: "/", Timeout: time.Minute}
	for range 5 {
		if r := e.Run(context.Background(), req); r.Status != OK {
			fmt.Println(r.Status, r.Err)
			return 1
		}
	}
	for until := time.Now().Add(15 * time.Second); len(readProcs()) > 1; {
		if time.Now().After(until) {
			fmt.Println("left:", readProcs())
			return 1
		}
	}
	fmt.Println("pid", os.Getpid(), "clean")
	return 0
}

// killMethods are the ways to end a tree that this host allows.
func killMethods() []string {
	if homes, err := cgroupHomes(); err == nil {
		for _, home := range homes {
			if dir, err := os.MkdirTemp(home, "probe-"); err == nil {
				_ = os.Remove(dir)
				return []string{"cgroup", "subreaper"}
			}
		}
	}
	return []string{"subreaper"}
}

// newExecutor returns an executor that uses the given kill method, and is closed with the test.
func newExecutor(t testing.TB, method string, o Options) *Executor {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if method == "subreaper" {
		e.host.useSubreaper("asked for by the test")
	}
	if got := e.Capabilities().KillMethod; got != method {
		t.Fatalf("kill method %q, want %q", got, method)
	}
	return e
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	s, ok := readStat(pid)
	return ok && !s.zombie
}

// marked returns the processes that bear a run's mark.
func marked(runID string) []int {
	var pids []int
	for pid, s := range readProcs() {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || s.zombie {
			continue
		}
		if id, ok := markIn(environ); ok && id == runID {
			pids = append(pids, pid)
		}
	}
	return pids
}

// zombies returns our dead children that nobody has reaped.
func zombies() int {
	n := 0
	for _, s := range readProcs() {
		if s.zombie && s.parent == os.Getpid() {
			n++
		}
	}
	return n
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// groupDirs counts the cgroups of an executor.
func groupDirs(t testing.TB, e *Executor) int {
	t.Helper()
	dir := e.Capabilities().CgroupDir
	if dir == "" {
		return 0
	}
	dirs, err := filepath.Glob(filepath.Join(dir, "[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(dirs)
}

// rss returns our resident memory in bytes.
func rss(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

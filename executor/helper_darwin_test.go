package executor

import (
	"syscall"
	"testing"
)

func helperSystem(string) int { return 2 }

func killMethods() []string { return []string{"group"} }

func newExecutor(t testing.TB, _ string, o Options) *Executor {
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
	return e
}

func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

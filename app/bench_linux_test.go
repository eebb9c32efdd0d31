package app

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/maishell/maishell/executor/floor"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
)

// BenchmarkGuarded runs a command in turns: once by the C floor, once as run_command through the whole pipeline, with
// role, schema, floor of the policy, hooks, and audit records in a real database. The shell does the first command
// itself; the second is a program, which the floor's shell starts and which we start without one.
//
//	go test ./app -run '^$' -bench Guarded -benchtime 4000x
func BenchmarkGuarded(b *testing.B) {
	for name, command := range map[string]string{"builtin": "true", "program": "uname -r"} {
		b.Run(name, func(b *testing.B) { benchGuarded(b, command) })
	}
}

func benchGuarded(b *testing.B, command string) {
	rt, origin := benchRuntime(b)
	f := floor.Start(b, []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"})
	view := rt.registry.View(origin)
	call := tools.Call{Origin: origin, Name: "run_command", Args: []byte(`{"command":"` + command + `"}`)}
	var theirs, ours []time.Duration
	for range b.N {
		f.Order("s " + command)
		theirs = append(theirs, time.Duration(f.Answer()[0]))
		start := time.Now()
		r := view.Invoke(b.Context(), call)
		ours = append(ours, time.Since(start))
		if !r.Success() {
			b.Fatal(string(r.JSON()))
		}
	}
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "x-median")
	b.ReportMetric(float64(median(theirs)), "floor-ns")
}

// BenchmarkDoor is a call that does nothing through the whole pipeline, records included.
func BenchmarkDoor(b *testing.B) {
	rt, origin := benchRuntime(b)
	view := rt.registry.View(origin)
	call := tools.Call{Origin: origin, Name: "list_tools"}
	for b.Loop() {
		if r := view.Invoke(b.Context(), call); !r.Success() {
			b.Fatal(string(r.JSON()))
		}
	}
}

// benchRuntime is a whole maishell in directories of its own, with more variables.
func benchRuntime(b *testing.B, env ...string) (*runtime, session.Origin) {
	b.Helper()
	dir := b.TempDir()
	rt := quietRuntime(b, append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8",
		"MAISHELL_STORE__DIR=" + dir + "/state", "MAISHELL_FILES__WORKSPACE=" + dir + "/files", "MAISHELL_SHELL__CWD=" + dir,
	}, env...))
	return rt, session.Origin{
		Caller: roles.Caller{Platform: roles.LocalPlatform, UserID: "bench"}, Session: session.NewID(), Channel: "bench",
	}
}

// quietRuntime is a whole maishell with the built-in settings and an environment, which ends with the test.
func quietRuntime(t testing.TB, env []string) *runtime {
	t.Helper()
	defaults, err := os.ReadFile(filepath.Join("..", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	sys := system{env: env, out: io.Discard, err: io.Discard, defaults: defaults}
	rt, err := start(t.Context(), sys, &options{logLevel: "error"}, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

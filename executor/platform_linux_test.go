package executor

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNothingSurvives has commands hide from the deadline in every way a shell can. Not parallel: without a cgroup,
// a process that clears its environment is only attributed while no other command runs.
func TestNothingSurvives(t *testing.T) {
	note := "echo $$ >> @TMP@/pids; "
	cases := map[string]string{
		"background":    "for i in 1 2 3; do sh -c '" + note + "while :; do sleep 0.1; done' & done; sleep 30",
		"setsid":        "setsid sh -c '" + note + "while :; do echo x; sleep 0.05; done' & sleep 30",
		"double fork":   "(setsid sh -c '" + note + "sleep 300; true' &) ; sleep 30",
		"nohup":         "nohup sh -c '" + note + "sleep 300; true' >/dev/null 2>&1 & sleep 30",
		"ignores TERM":  "(trap '' TERM HUP INT; exec setsid sh -c '" + note + "while :; do sleep 1; done') & sleep 30",
		"cleared":       "(env -i setsid sh -c '" + note + "sleep 300; true' &) ; sleep 30",
		"stopped":       "setsid sh -c '" + note + "kill -STOP $$; sleep 300' & sleep 30",
		"fork loop":     "sh -c '" + note + `f() { sleep 0.01; (f) & }; f; sleep 300' & sleep 30`,
		"hopping":       `(setsid sh -c '` + note + `h() { echo x >> @TMP@/hops; setsid sh -c "$1" hop "$1" & exit; }; s="echo x >> @TMP@/hops; setsid sh -c \"\$1\" hop \"\$1\" & exit"; h "$s"' &) ; sleep 30`,
		"closed output": "setsid sh -c '" + note + "exec >/dev/null 2>&1; sleep 300; true' & sleep 30",
	}
	for _, method := range killMethods() {
		e := newExecutor(t, method, Options{})
		for name, command := range cases {
			t.Run(method+"/"+name, func(t *testing.T) {
				req := request(t, command)
				req.Timeout = 500 * time.Millisecond
				r := e.Run(t.Context(), req)
				if r.Status != Timeout || r.Duration > 10*time.Second {
					t.Errorf("%s after %v", r.Status, r.Duration)
				}
				pids := pidsIn(t, filepath.Join(req.Dir, "pids"))
				if len(pids) == 0 {
					t.Error("nothing was started")
				}
				if i := slices.IndexFunc(pids, running); i >= 0 {
					t.Errorf("%d of %v survived", pids[i], pids)
				}
				if method == "subreaper" && name == "hopping" { // is chased on after the call returned
					unseen := 0
					eventually(t, "it was caught", func() bool {
						if unseen++; len(marked(req.RunID)) > 0 {
							unseen = 0
						}
						return unseen > 10
					})
				}
				if left := marked(req.RunID); len(left) > 0 {
					t.Errorf("%v survived", left)
				}
			})
		}
	}
}

// TestLeavingTheCgroup has a command move itself to the cgroup above, as root and the owner of a delegated tree can.
func TestLeavingTheCgroup(t *testing.T) {
	e := newExecutor(t, killMethods()[0], Options{})
	own := e.Capabilities().CgroupDir
	if own == "" {
		t.Skip("no cgroup here")
	}
	req := request(t, "setsid sh -c 'echo $$ > "+filepath.Dir(own)+"/cgroup.procs && echo $$ >> @TMP@/pids; trap \"\" TERM; while :; do sleep 0.1; done' & sleep 30")
	req.Timeout = 500 * time.Millisecond
	if r := e.Run(t.Context(), req); r.Status != Timeout {
		t.Errorf("%s %v", r.Status, r.Err)
	}
	pids := pidsIn(t, filepath.Join(req.Dir, "pids"))
	if len(pids) == 0 {
		t.Fatal("it could not leave")
	}
	eventually(t, "the process that left is gone", func() bool { return !slices.ContainsFunc(pids, running) })
}

// TestManyRuns counts what is left after many runs.
func TestManyRuns(t *testing.T) {
	const parallel = 200
	sequence := 5000
	if testing.Short() {
		sequence = 200
	}
	for _, method := range killMethods() {
		t.Run(method, func(t *testing.T) {
			e := newExecutor(t, method, Options{MaxRunning: 16})
			run := func() {
				if r := e.Run(t.Context(), Request{RunID: "many", Command: "echo hi", Dir: "/", Timeout: time.Minute}); r.Stdout.Head != "hi\n" || r.LeftPIDs != nil {
					t.Error(r.Status, r.Err, r.Stdout, r.LeftPIDs)
				}
			}
			burst := func() {
				var wg sync.WaitGroup
				for range parallel {
					wg.Go(run)
				}
				wg.Wait()
			}
			burst() // fills the pools
			files, dirs, routines := openFiles(t), groupDirs(t, e), runtime.NumGoroutine()
			burst()
			for range sequence {
				run()
			}
			eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= routines })
			if n := openFiles(t); n > files+8 {
				t.Errorf("%d open files, %d before", n, files)
			}
			if n := groupDirs(t, e); n > max(dirs, 16) {
				t.Errorf("%d cgroups, %d before", n, dirs)
			}
			eventually(t, "no zombies are left", func() bool { return zombies() == 0 })
		})
	}
}

// TestLeftOversAreReaped has children be adopted by us, and die.
func TestLeftOversAreReaped(t *testing.T) {
	for _, method := range killMethods() {
		t.Run(method, func(t *testing.T) {
			e := newExecutor(t, method, Options{})
			dirs := groupDirs(t, e)
			files := openFiles(t)
			for _, command := range []string{"sleep 0.2 & exit 0", "sh -c 'sleep 0.2 & exit 0'; sleep 5", "(setsid sleep 0.1 &); sleep 0.3", "setsid sleep 0.3 &"} {
				for range 5 {
					req := request(t, command)
					req.Timeout = 400 * time.Millisecond
					if r := e.Run(t.Context(), req); r.Err != nil {
						t.Error(r.Err)
					}
				}
			}
			eventually(t, "all zombies are reaped", func() bool { return zombies() == 0 })
			eventually(t, "all pipes are closed", func() bool { return openFiles(t) <= files+8 })
			eventually(t, "the cgroups are given back", func() bool {
				if r := e.Run(t.Context(), request(t, "true")); r.Status != OK {
					t.Error(r.Status, r.Err)
				}
				if groups := e.host.cgroups.Load(); groups != nil {
					groups.mu.Lock()
					groups.swept = time.Time{}
					groups.sweep()
					groups.mu.Unlock()
				}
				return groupDirs(t, e) <= dirs+1
			})
		})
	}
}

func TestMemory(t *testing.T) {
	e := newExecutor(t, killMethods()[0], Options{})
	run := func(command string, timeout time.Duration) Result {
		req := request(t, command)
		req.Timeout = timeout
		return e.Run(t.Context(), req)
	}
	run("yes", 100*time.Millisecond) // fills the pools
	before := rss(t)
	r := run("yes", time.Second)
	if !r.Stdout.Truncated() || r.Status != Timeout || r.Duration > 10*time.Second {
		t.Error(r.Status, r.Stdout.OmittedChars, r.Duration)
	}
	if !testing.Short() {
		r = run("head -c 1073741824 /dev/zero", time.Minute)
		if r.Stdout.TotalBytes != 1<<30 || r.Status != OK {
			t.Error(r.Status, r.Stdout.TotalBytes)
		}
	}
	if grown := rss(t) - before; grown > 64<<20 {
		t.Errorf("%d MiB more than before", grown>>20)
	}
}

// TestNothingIsInherited starts a host with an open descriptor, ignored and blocked signals, and looks at a command's.
func TestNothingIsInherited(t *testing.T) {
	t.Parallel()
	cmd := helperCommand(t, "run", "ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status; yes | head -n 3 > /dev/null")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", "trap '' PIPE HUP INT TERM TSTP; exec \"$@\"", "sh"}, cmd.Args...)
	file, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	cmd.ExtraFiles = []*os.File{file, file}
	// Signals 32 and 33 belong to the C library, which a build with cgo (the race detector's) leaves as they are.
	out := regexp.MustCompile(`(SigIgn:\t0{7})[01][08]`).ReplaceAllString(outputWithBlockedSignals(t, cmd), "${1}00")
	want := "0\n1\n2\n3\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n" // 3 lists the directory
	if out != want {
		t.Errorf("%q", out)
	}
}

func outputWithBlockedSignals(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block, old unix.Sigset_t
	block.Val[0] = 1<<(unix.SIGUSR1-1) | 1<<(unix.SIGTERM-1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	return output(t, cmd)
}

// TestNoSignalAfterReap counts signals to a run that has ended.
func TestNoSignalAfterReap(t *testing.T) {
	t.Parallel()
	eachMethod(t, func(t *testing.T, e *Executor) {
		var sent []int
		e.host.signals.send = func(pid int, _ syscall.Signal) error {
			sent = append(sent, pid)
			return nil
		}
		c, err := e.host.spawn(spawnSpec{shell: "/bin/sh", command: "true", dir: "/", runID: "reaped"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			closeAll(c.stdout, c.stderr, c.pidfd)
			c.release()
		}()
		if state := c.wait(); state.code != 0 {
			t.Error(state)
		}
		c.terminate()
		c.kill()
		if len(sent) > 0 || c.alive() != nil {
			t.Errorf("signals to %v, alive %v", sent, c.alive())
		}
	})
}

func TestFewFiles(t *testing.T) {
	t.Parallel()
	if out := output(t, helperCommand(t, "fewfiles")); out != "map[executor.file_limit:true] ok\n" {
		t.Error(out)
	}
}

func TestAsInit(t *testing.T) {
	t.Parallel()
	cmd := helperCommand(t, "init")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		t.Skip("needs a pid namespace")
	}
	if out := output(t, cmd); strings.HasPrefix(out, "skip") {
		t.Skip(out)
	} else if out != "pid 1 clean\n" {
		t.Error(out)
	}
}

// TestCgroupRefused makes the system refuse the cgroup of the first run.
func TestCgroupRefused(t *testing.T) {
	t.Parallel()
	if killMethods()[0] != "cgroup" {
		t.Skip("no cgroup to refuse")
	}
	e := newExecutor(t, "cgroup", Options{})
	groups := e.host.cgroups.Load()
	closeAll(groups.spare[0].dir)
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	groups.spare[0].dir = null
	if r := e.Run(t.Context(), request(t, "echo hi")); r.Stdout.Head != "hi\n" {
		t.Error(r.Status, r.Err)
	}
	c := e.Capabilities()
	if c.KillMethod != "subreaper" || !strings.HasPrefix(c.WhyNot, "cgroup refused: ") || c.CgroupDir != "" {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(groups.path); err == nil {
		t.Error(groups.path, "is still there")
	}
}

// TestStaleCgroups leaves directories behind as a killed instance does.
func TestStaleCgroups(t *testing.T) {
	t.Parallel()
	if killMethods()[0] != "cgroup" {
		t.Skip("no cgroups")
	}
	live := newExecutor(t, "cgroup", Options{}).Capabilities().CgroupDir
	stale := filepath.Join(filepath.Dir(live), groupPrefix+"stale-"+strconv.Itoa(os.Getpid()))
	if err := os.MkdirAll(filepath.Join(stale, "1", "nested"), 0o755); err != nil {
		t.Fatal(err)
	}
	mine := newExecutor(t, "cgroup", Options{})
	if _, err := os.Stat(stale); err == nil {
		t.Error("the directory of a dead process is still there")
	}
	if _, err := os.Stat(live); err != nil {
		t.Error("the directory of a live process is gone:", err)
	}
	dir := mine.Capabilities().CgroupDir
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory of a closed executor is still there")
	}
}

// TestManyInstances has executors start and stop beside each other, each of which looks for stale directories.
func TestManyInstances(t *testing.T) {
	t.Parallel()
	if killMethods()[0] != "cgroup" {
		t.Skip("no cgroups")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				g, err := newCgroups()
				if err != nil {
					t.Error(err)
					return
				}
				g.close()
				if _, err := os.Stat(g.path); err == nil {
					t.Error("left:", g.path)
				}
			}
		})
	}
	wg.Wait()
}

func TestFindHomes(t *testing.T) {
	t.Parallel()
	mount := func(root, at, kind string) string {
		return "30 23 0:26 " + root + " " + at + " rw,nosuid shared:4 - " + kind + " cgroup rw\n"
	}
	cases := map[string]struct {
		own, mounts string
		want        []string
	}{
		"unified":       {"0::/user.slice/x\n", mount("/", "/sys/fs/cgroup", "cgroup2"), []string{"/sys/fs/cgroup/user.slice/x"}},
		"hybrid":        {"1:cpu:/a\n0::/b\n", mount("/", "/sys/fs/cgroup/cpu", "cgroup") + mount("/", "/sys/fs/cgroup/unified", "cgroup2"), []string{"/sys/fs/cgroup/unified/b"}},
		"part mounted":  {"0::/docker/1/app\n", mount("/docker/1", "/sys/fs/cgroup", "cgroup2"), []string{"/sys/fs/cgroup/app"}},
		"other part":    {"0::/docker/1\n", mount("/docker/12", "/sys/fs/cgroup", "cgroup2"), nil},
		"outside":       {"0::/../x\n", mount("/", "/sys/fs/cgroup", "cgroup2"), nil},
		"space in path": {"0::/\n", mount("/", `/mnt/a\040b\134`, "cgroup2"), []string{`/mnt/a b\`}},
		"version 1":     {"4:memory:/x\n", mount("/", "/sys/fs/cgroup/memory", "cgroup"), nil},
	}
	for name, c := range cases {
		if got := findHomes(c.own, c.mounts); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

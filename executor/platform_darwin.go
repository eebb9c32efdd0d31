package executor

import (
	"bytes"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// platform is what all runs on this host share.
type platform struct {
	null    *os.File // stdin of every command
	signals signaller
	ignored chan os.Signal // gets the signals that we were started with ignored, see unignore
}

func newPlatform(*slog.Logger) (*platform, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	closeOnExec()
	return &platform{null: null, signals: newSignaller(), ignored: unignore()}, nil
}

// capabilities: there is neither a cgroup nor a subreaper here, see members for what is found.
func (p *platform) capabilities() Capabilities { return Capabilities{KillMethod: "group"} }

func (p *platform) close() error {
	if p.ignored != nil {
		signal.Stop(p.ignored)
	}
	return p.null.Close()
}

// child is one started command.
type child struct {
	stdout, stderr *os.File // read ends
	p              *platform
	process        *os.Process
	mark           []byte // its run id as it stands in an environment block

	mu     sync.Mutex
	reaped bool
	known  map[int]unix.Timeval // processes once seen in the tree, with their start times
}

// spawn starts a command.
func (p *platform) spawn(s spawnSpec) (*child, error) {
	ways, err := launches(&s)
	if err != nil {
		return nil, err
	}
	stdin, err := p.stdin(s.stdin)
	if err != nil {
		return nil, err
	}
	if stdin != p.null {
		defer func() { _ = stdin.Close() }()
	}
	out, outEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = outEnd.Close() }()
	errs, errEnd, err := os.Pipe()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	defer func() { _ = errEnd.Close() }()
	attr := &os.ProcAttr{
		Dir:   s.dir,
		Env:   s.env,
		Files: []*os.File{stdin, outEnd, errEnd},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	var process *os.Process
	for _, way := range ways {
		if process, err = os.StartProcess(way.path, way.args, attr); err == nil {
			break
		}
	}
	if err != nil {
		_ = out.Close()
		_ = errs.Close()
		return nil, err
	}
	return &child{
		stdout:  out,
		stderr:  errs,
		p:       p,
		process: process,
		mark:    []byte("\x00" + envRunID + "=" + s.runID + "\x00"),
		known:   map[int]unix.Timeval{},
	}, nil
}

func (c *child) pid() int { return c.process.Pid }

// wait reaps by way of os.Process, which keeps the number from being signalled afterwards; members does not list it.
func (c *child) wait() exitState {
	state, err := c.process.Wait()
	c.mu.Lock()
	c.reaped = true
	c.mu.Unlock()
	if err != nil {
		return exitState{code: unknownExit}
	}
	return exitOf(state.Sys().(syscall.WaitStatus), unix.SignalName)
}

// alive finds the tree: the direct child, what is in its session, what was seen in the tree before, what bears the
// run's mark, and the descendants of all those. A process is missed that cleared its environment, left the session and
// lost its parent before the first look.
func (c *child) alive() []int {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	tree := map[int]bool{}
	for i := range procs {
		if c.isRoot(&procs[i]) {
			tree[int(procs[i].Proc.P_pid)] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for i := range procs {
			pid := int(procs[i].Proc.P_pid)
			if !tree[pid] && tree[int(procs[i].Eproc.Ppid)] {
				tree[pid], grown = true, true
			}
		}
	}
	var pids []int
	for i := range procs {
		if pid := int(procs[i].Proc.P_pid); tree[pid] && procs[i].Proc.P_stat != statZombie {
			pids = append(pids, pid)
			c.known[pid] = procs[i].Proc.P_starttime
		}
	}
	slices.Sort(pids)
	return pids
}

// statZombie is SZOMB of <sys/proc.h>.
const statZombie = 5

// isRoot reports whether a process belongs to the tree by itself. c.mu is held.
func (c *child) isRoot(p *unix.KinfoProc) bool {
	pid := int(p.Proc.P_pid)
	if pid <= 1 || pid == c.p.signals.self {
		return false
	}
	if pid == c.process.Pid {
		return !c.reaped
	}
	if start, ok := c.known[pid]; ok && start == p.Proc.P_starttime {
		return true
	}
	if session, err := unix.Getsid(pid); err == nil && session == c.process.Pid {
		return true
	}
	if p.Eproc.Ppid != 1 {
		return false
	}
	block, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && bytes.Contains(block, c.mark)
}

func (c *child) terminate() { c.p.signals.ask(c.alive) }

// kill looks again as long as it finds something, a few times: what forks meanwhile is met by its group or later.
func (c *child) kill() {
	for range 5 {
		pids := c.alive()
		if len(pids) == 0 {
			return
		}
		c.p.signals.toTree(pids, syscall.SIGKILL, map[int]bool{})
	}
}

func (c *child) release() {}

// growPipe does nothing: pipes grow by themselves here.
func growPipe(int) {}

// closeOnExec marks the descriptors above 2 that somebody left open for us.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(filepath.Base(entry.Name())); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// unignore makes the runtime handle the signals that we were started with ignored: what is handled is reset in a
// child, what is ignored is inherited. They go on having no effect on us. The result is nil if there are none.
func unignore() chan os.Signal {
	var signals []os.Signal
	for n := syscall.Signal(1); n < 32; n++ {
		if signal.Ignored(n) {
			signals = append(signals, n)
		}
	}
	if signals == nil {
		return nil
	}
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, signals...)
	return unread
}

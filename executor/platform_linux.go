package executor

import (
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// platform is what all runs on this host share.
type platform struct {
	log     *slog.Logger
	null    *os.File // stdin of every command
	signals signaller
	pidfds  bool           // whether the kernel has them
	masked  bool           // whether we were started with blocked signals, which children would inherit
	ignored chan os.Signal // gets the signals that we were started with ignored, see unignore
	reaper  *reaper
	cgroups atomic.Pointer[cgroups] // nil: trees are ended by way of the reaper

	mu     sync.Mutex
	sets   []*epollSet // spare ones
	whyNot string      // why cgroups is nil
}

// newPlatform looks at what the host offers.
func newPlatform(log *slog.Logger) (*platform, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	closeOnExec()
	p := &platform{
		log:     log,
		null:    null,
		signals: newSignaller(),
		pidfds:  havePidfds(),
		masked:  blockedSignals(),
		ignored: unignore(),
	}
	p.reaper = newReaper(p.signals)
	groups, err := newCgroups()
	if err != nil {
		p.useSubreaper(err.Error())
	} else {
		p.cgroups.Store(groups)
		if p.signals.self == 1 || isSubreaper() {
			p.reaper.start() // orphans come to us all the same
		}
	}
	return p, nil
}

// useSubreaper gives up cgroups for good.
func (p *platform) useSubreaper(why string) {
	if err := subreaper(true); err != nil {
		why += "; and no subreaper: " + err.Error()
	}
	p.reaper.start()
	p.mu.Lock()
	first := p.whyNot == ""
	if first {
		p.whyNot = why
	}
	groups := p.cgroups.Swap(nil)
	p.mu.Unlock()
	if groups != nil {
		groups.close()
	}
	if first {
		p.log.Info("commands run without a cgroup: a process that hides may survive a timeout", "reason", why)
	}
}

// subreaper makes orphans below us become our children.
func subreaper(on bool) error {
	var value uintptr
	if on {
		value = 1
	}
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)
}

// isSubreaper reports whether subreaper(true) holds, from before an exec perhaps.
func isSubreaper() bool {
	var on int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0)
	return errno == 0 && on != 0
}

func (p *platform) capabilities() Capabilities {
	if groups := p.cgroups.Load(); groups != nil {
		return Capabilities{KillMethod: "cgroup", CgroupDir: groups.path}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return Capabilities{KillMethod: "subreaper", WhyNot: p.whyNot}
}

func (p *platform) close() error {
	p.reaper.close()
	if groups := p.cgroups.Load(); groups != nil {
		groups.close()
	}
	if p.ignored != nil {
		signal.Stop(p.ignored)
	}
	for _, set := range p.sets {
		_ = set.file.Close() // it holds nothing
	}
	return p.null.Close()
}

// child is one started command.
type child struct {
	stdout, stderr int // read ends
	pidfd          int // -1: none
	p              *platform
	id             int
	runID          string
	started        uint64  // clock ticks since boot, not after the process's own start time; 0 with a cgroup
	group          *cgroup // nil: none

	mu     sync.Mutex
	reaped bool
	state  exitState
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
	var out, errs [2]int
	if err := syscall.Pipe2(out[:], syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	if err := syscall.Pipe2(errs[:], syscall.O_CLOEXEC); err != nil {
		closeAll(out[:]...)
		return nil, err
	}
	c := &child{p: p, stdout: out[0], stderr: errs[0], pidfd: -1, runID: s.runID}
	if p.cgroups.Load() == nil {
		c.started = bootTicks()
	}
	attr := &syscall.ProcAttr{
		Dir:   s.dir,
		Env:   s.env,
		Files: []uintptr{stdin.Fd(), uintptr(out[1]), uintptr(errs[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	if p.pidfds {
		attr.Sys.PidFD = &c.pidfd
	}
	for _, way := range ways {
		if err = p.fork(c, way, attr); err == nil {
			break
		}
	}
	closeAll(out[1], errs[1])
	if err != nil {
		closeAll(out[0], errs[0])
		return nil, err
	}
	p.reaper.add(c)
	return c, nil
}

// fork starts the process, in a cgroup where there is one. When the system refuses that although it would start the
// process otherwise, cgroups are given up.
func (p *platform) fork(c *child, way launch, attr *syscall.ProcAttr) error {
	groups := p.cgroups.Load()
	if groups == nil {
		return p.forkExec(c, way, attr)
	}
	group, err := groups.take()
	switch {
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM):
		return err // passing need, no refusal
	case err == nil:
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, group.dir
		if err = p.forkExec(c, way, attr); err == nil {
			c.group = group
			return nil
		}
		groups.put(group, true)
		if !cgroupMayBeToBlame(err) {
			return err
		}
		attr.Sys.UseCgroupFD = false
	}
	refused := err
	_ = subreaper(true) // needed from before the start; useSubreaper reports if there is none
	if err := p.forkExec(c, way, attr); err != nil {
		_ = subreaper(p.cgroups.Load() == nil)
		return err
	}
	p.useSubreaper("cgroup refused: " + refused.Error())
	return nil
}

// cgroupMayBeToBlame tells errors that clone3 gives for a cgroup from those that have nothing to do with it.
func cgroupMayBeToBlame(err error) bool {
	for _, e := range []error{unix.ENOSYS, unix.EPERM, unix.EACCES, unix.EINVAL, unix.EBUSY, unix.EOPNOTSUPP, unix.ENODEV, unix.EBADF} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// forkExec starts the process with no signal blocked.
func (p *platform) forkExec(c *child, way launch, attr *syscall.ProcAttr) error {
	if p.masked {
		// A child inherits the mask that its thread had just before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var none, old unix.Sigset_t
		if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &old); err == nil {
			defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
		}
	}
	var err error
	c.id, err = syscall.ForkExec(way.path, way.args, attr)
	return err
}

func (c *child) pid() int { return c.id }

// wait blocks a thread; it is for kernels without pidfds.
func (c *child) wait() exitState {
	for !c.reap() {
		err := unix.Waitid(unix.P_PID, c.id, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return exitState{code: unknownExit} // somebody else took it
		}
	}
	return c.state
}

// reap collects the exit state and returns whether the process is gone. The lock keeps signals from a number that is
// not ours any more.
func (c *child) reap() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return true
	}
	var ws syscall.WaitStatus
	pid, err := syscall.Wait4(c.id, &ws, syscall.WNOHANG, nil)
	switch {
	case pid == c.id:
		c.state = exitOf(ws, unix.SignalName)
	case errors.Is(err, syscall.ECHILD):
		c.state = exitState{code: unknownExit}
	default:
		return false
	}
	c.reaped = true
	return true
}

// hasEnded reports whether the direct child was reaped.
func (c *child) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reaped
}

func (c *child) alive() []int {
	if c.group != nil {
		return c.group.members()
	}
	return c.p.reaper.members(c)
}

func (c *child) terminate() { c.p.signals.ask(c.alive) }

func (c *child) kill() {
	if c.group != nil && c.group.kill() == nil {
		c.killStrays()
		return
	}
	for until := time.Now().Add(dyingTime); time.Now().Before(until); {
		pids := c.alive()
		if len(pids) == 0 {
			return
		}
		c.p.signals.toTree(pids, syscall.SIGKILL, map[int]bool{})
		c.p.reaper.chase(c)
	}
}

// strayLooks is how often killStrays looks for what was forked meanwhile.
const strayLooks = 3

// killStrays ends what moved itself out of the cgroup, which root and the owner of the directory above can do. They are
// known by the mark of the run in their environment; one that cleared that too is lost.
func (c *child) killStrays() {
	for range strayLooks {
		pids := c.strays()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = c.p.signals.toProcess(pid, syscall.SIGKILL) // it may be gone
		}
	}
}

// strays looks at every process of the system.
func (c *child) strays() []int {
	procs := readProcs()
	var roots []int
	for pid, s := range procs {
		if s.zombie || s.start < c.started {
			continue
		}
		if id, marked := markIn(readProcFile("/proc/" + strconv.Itoa(pid) + "/environ")); marked && id == c.runID {
			roots = append(roots, pid)
		}
	}
	return descendants(procs, roots)
}

func (c *child) release() {
	c.p.reaper.drop(c)
	if c.group != nil {
		c.group.owner.put(c.group, false)
	}
}

// growPipe gives a pipe room for more, so that writer and reader change turns less often. Not every user may.
func growPipe(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 256<<10) }

func closeAll(fds ...int) {
	for _, fd := range fds {
		_ = syscall.Close(fd)
	}
}

package executor

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// follower reads a run's output and notices its end, in the goroutine that waits for it. A goroutine per pipe and one
// for the exit cost more than the rest of a run: the runtime wakes a thread for each. Here all three descriptors are in
// an epoll set of the run's own, and the runtime waits for that.
type follower struct {
	e     *Executor
	c     *child
	sinks [2]*collector
	fds   [3]int      // stdout, stderr, pidfd; -1: closed
	files [2]*os.File // the open pipes of a left-over child
	total [2]int      // bytes read
	holds atomic.Int32

	ending bool // a descriptor was just closed, and the others may follow at once
	exited bool // whether the direct child was reaped
	state  exitState

	poked atomic.Bool // something changed while the waiter may sleep
	mu    sync.Mutex  // guards what follows, for interrupt and the goroutine of watchExit
	set   *epollSet   // nil: given back
	stop  bool        // interrupt was called
	late  *exitState  // from watchExit
}

// epollSet is an epoll descriptor that the runtime polls. They are used again.
type epollSet struct {
	fd     int
	file   *os.File
	conn   syscall.RawConn
	events [3]unix.EpollEvent
	alarm  time.Time // the read deadline of file
}

// wakeBy makes a sleep on s end at until, or before. It leaves an earlier alarm from another wait alone: the waiter
// looks again then, and setting one makes the runtime wake a thread, which nearly every run can do without.
func (s *epollSet) wakeBy(until, now time.Time) bool {
	if s.alarm.After(now) && !s.alarm.After(until) {
		return true
	}
	s.alarm = until
	return s.file.SetReadDeadline(until) == nil
}

const (
	// exitIndex is the place of the pidfd in follower.fds.
	exitIndex = 2
	// endingPause, in milliseconds, is how long a thread sleeps in the kernel for the next event after one stream ended:
	// a process that exits closes its pipes and becomes waitable within microseconds, and the way through the runtime's
	// own poller takes longer than that.
	endingPause = 1
)

// follow begins to watch a child. If that fails the child is ended.
func (e *Executor) follow(c *child, out, errs *collector) (*follower, error) {
	fds := [3]int{c.stdout, c.stderr, c.pidfd}
	set, err := e.host.takeSet()
	if err == nil {
		err = set.add(fds)
	}
	if err != nil {
		c.kill()
		for _, fd := range fds {
			if fd >= 0 {
				closeAll(fd)
			}
		}
		e.runs.Go(func() {
			c.wait()
			c.release()
		})
		return nil, err
	}
	f := &follower{e: e, c: c, sinks: [2]*collector{out, errs}, fds: fds, set: set}
	f.holds.Store(2)
	if c.pidfd < 0 {
		go f.watchExit() // an old kernel
	}
	return f, nil
}

// add puts descriptors into the set. After an error it is not used again.
func (s *epollSet) add(fds [3]int) error {
	for i, fd := range fds {
		if fd < 0 {
			continue
		}
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(s.fd, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			_ = s.file.Close()
			return err
		}
	}
	return nil
}

// watchExit waits where there is no pidfd.
func (f *follower) watchExit() {
	state := f.c.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = &state
	f.poke()
}

// interrupt ends a wait for goalEnd, now or later.
func (f *follower) interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop = true
	f.poke()
}

// poke makes the waiter look again. f.mu is held.
func (f *follower) poke() {
	f.poked.Store(true)
	if f.set != nil {
		f.set.wakeBy(time.Unix(1, 0), time.Time{})
	}
}

// wait reads output until the goal is reached, but not longer than until.
func (f *follower) wait(until time.Time, goal goal) {
	step := func(uintptr) bool {
		for pause := 0; ; pause = 0 {
			if f.ending {
				pause, f.ending = endingPause, false
			}
			n, err := unix.EpollWait(f.set.fd, f.set.events[:], pause)
			if err != nil && errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 {
				return false
			}
			for _, event := range f.set.events[:n] {
				f.handle(int(event.Fd))
			}
			// Output may never pause.
			if f.reached(goal) || f.poked.Load() || !time.Now().Before(until) {
				return true
			}
		}
	}
	for f.arm(until, goal) {
		_ = f.set.conn.Read(step) // an error is the deadline, or poke
		if !time.Now().Before(until) {
			return
		}
	}
}

// arm prepares for sleep, and returns false if there is no reason to.
func (f *follower) arm(until time.Time, goal goal) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.poked.Store(false)
	if f.late != nil {
		f.exited, f.state = true, *f.late
	}
	if f.reached(goal) || goal == goalEnd && f.stop {
		return false
	}
	return f.set.wakeBy(until, time.Now())
}

// reached reports whether a wait for goal is over.
func (f *follower) reached(goal goal) bool {
	switch goal {
	case goalEnd, goalExit:
		return f.exited
	case goalEOF:
		return f.ended()
	}
	return false
}

// ended reports whether both streams are at their end.
func (f *follower) ended() bool { return f.fds[0] < 0 && f.fds[1] < 0 }

// handle does what a ready descriptor asks for.
func (f *follower) handle(i int) {
	if i == exitIndex {
		if f.c.reap() {
			f.exited, f.state = true, f.c.state
			f.drop(i)
		}
		return
	}
	buf := f.e.buffers.Get().(*[]byte)
	defer f.e.buffers.Put(buf)
	n, err := syscall.Read(f.fds[i], *buf)
	if n > 0 {
		_, _ = f.sinks[i].Write((*buf)[:n]) // never fails
		if f.total[i] += n; f.total[i] > chatty && f.total[i]-n <= chatty {
			growPipe(f.fds[i])
		}
		return
	}
	if err == nil || !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EAGAIN) {
		f.drop(i)
		f.closedPipe()
	}
}

// drop closes a descriptor. It is taken out of the set first: a process that is being forked holds a copy for a moment,
// which would keep it in.
func (f *follower) drop(i int) {
	_ = unix.EpollCtl(f.set.fd, unix.EPOLL_CTL_DEL, f.fds[i], nil)
	closeAll(f.fds[i])
	f.fds[i] = -1
	f.ending = true
}

// closedPipe notes that a pipe is not ours any more.
func (f *follower) closedPipe() {
	if f.ended() {
		f.e.letGo(f)
	}
}

// leave goes on reading in the background for a left-over child.
func (f *follower) leave() {
	var open atomic.Int32
	for i := range f.files {
		if fd := f.fds[i]; fd >= 0 {
			_ = unix.EpollCtl(f.set.fd, unix.EPOLL_CTL_DEL, fd, nil)
			_ = syscall.SetNonblock(fd, true)
			f.files[i], f.fds[i] = os.NewFile(uintptr(fd), "pipe"), -1
			open.Add(1)
		}
	}
	for i, file := range f.files {
		if file == nil {
			continue
		}
		f.e.reads.Go(func() {
			pump(file, &f.e.buffers, func(p []byte) { _, _ = f.sinks[i].Write(p) })
			_ = file.Close() // it was read only
			if open.Add(-1) == 0 {
				f.e.letGo(f)
			}
		})
	}
}

// closePipes stops reading. Background readers end by it.
func (f *follower) closePipes() {
	for _, file := range f.files {
		if file != nil {
			_ = file.Close() // or its reader did
		}
	}
	if f.ended() {
		return
	}
	for i := range f.files {
		if f.fds[i] >= 0 {
			f.drop(i)
		}
	}
	f.closedPipe()
}

// free gives back what waiting took.
func (f *follower) free() {
	if f.fds[exitIndex] >= 0 {
		f.drop(exitIndex)
		go f.c.wait() // what SIGKILL did not end is stuck in the kernel; some day it is to be reaped
	}
	f.mu.Lock()
	set := f.set
	f.set = nil
	f.mu.Unlock()
	f.e.host.putSet(set)
}

// takeSet returns an empty epoll set.
func (p *platform) takeSet() (*epollSet, error) {
	p.mu.Lock()
	if n := len(p.sets); n > 0 {
		set := p.sets[n-1]
		p.sets = p.sets[:n-1]
		p.mu.Unlock()
		return set, nil
	}
	p.mu.Unlock()
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // asks NewFile to poll it
		closeAll(fd)
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "epoll")
	conn, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &epollSet{fd: fd, file: file, conn: conn}, nil
}

// putSet takes an empty set back.
func (p *platform) putSet(set *epollSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sets) < maxSpare {
		p.sets = append(p.sets, set)
		return
	}
	_ = set.file.Close()
}

//go:build !linux

package executor

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// follower reads a run's output and notices its end, with a goroutine for each of the three.
type follower struct {
	e     *Executor
	c     *child
	open  atomic.Int32   // pipes that are not at their end
	eof   chan struct{}  // closed when open reaches 0
	exit  chan exitState // gets the exit of the direct child, once
	stop  chan struct{}  // closed by interrupt
	once  sync.Once      // for stop
	holds atomic.Int32

	exited bool // whether the direct child was reaped
	state  exitState
}

// follow begins to watch a child.
func (e *Executor) follow(c *child, out, errs *collector) (*follower, error) {
	f := &follower{e: e, c: c, eof: make(chan struct{}), exit: make(chan exitState, 1), stop: make(chan struct{})}
	f.holds.Store(2)
	f.open.Store(2)
	e.reads.Go(func() { f.read(c.stdout, out) })
	e.reads.Go(func() { f.read(c.stderr, errs) })
	go func() { f.exit <- c.wait() }()
	return f, nil
}

// read collects one stream until its end. After the result was taken the collector discards: a left-over child may
// write on.
func (f *follower) read(file *os.File, sink *collector) {
	pump(file, &f.e.buffers, func(p []byte) { _, _ = sink.Write(p) }) // never fails
	_ = file.Close()                                                  // it was read only
	if f.open.Add(-1) == 0 {
		close(f.eof)
		f.e.letGo(f)
	}
}

// interrupt ends a wait for goalEnd, now or later.
func (f *follower) interrupt() { f.once.Do(func() { close(f.stop) }) }

// wait returns when the goal is reached, but not later than until.
func (f *follower) wait(until time.Time, goal goal) {
	var exit chan exitState
	var eof, stop chan struct{}
	switch goal {
	case goalEnd:
		exit, stop = f.exit, f.stop
	case goalExit:
		exit = f.exit
	case goalEOF:
		eof = f.eof
	}
	if f.exited && exit != nil {
		return
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case f.state = <-exit:
		f.exited = true
	case <-eof:
	case <-stop:
	case <-timer.C:
	}
}

// ended reports whether both streams are at their end.
func (f *follower) ended() bool { return f.open.Load() == 0 }

// leave lets the readers go on for a left-over child.
func (f *follower) leave() {}

// closePipes stops reading.
func (f *follower) closePipes() {
	_ = f.c.stdout.Close() // or its reader did
	_ = f.c.stderr.Close()
}

// free gives back what waiting took.
func (f *follower) free() {}

package executor

import (
	"io"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/maishell/maishell/redact"
)

// Options configure an Executor. The zero value is valid.
type Options struct {
	Env        []string     // the host environment that commands get a part of (see env.go); nil: os.Environ()
	MaxRunning int          // commands that run at once, the rest queue; < 1: 4 per core
	Redact     *redact.Set  // secrets that never leave a capture; nil: none
	Logger     *slog.Logger // nil: discard
}

// Executor runs commands. Its methods may be called from any goroutine.
type Executor struct {
	log    *slog.Logger
	secret *redact.Set
	host   *platform
	queue  *queue
	env    []string // what every command gets, see baseEnv
	shell  string   // default shell

	buffers sync.Pool     // *[]byte of bufferSize
	closing chan struct{} // closed when Close begins

	mu     sync.Mutex
	closed bool
	live   map[*follower]struct{} // runs, and finished runs whose pipes left-over children still hold
	runs   sync.WaitGroup         // calls of Run, and kills that go on after them
	reads  sync.WaitGroup         // readers of pipes
}

// New returns an Executor. It marks the descriptors above 2 that we inherited as close-on-exec, handles the signals
// that we inherited as ignored (without effect, but so that commands get the default), and on Linux may make this process
// a subreaper (see Capabilities.KillMethod). What is ignored by signal.Ignore later on is ignored in commands too.
func New(o Options) (*Executor, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	host, err := newPlatform(o.Logger)
	if err != nil {
		return nil, err
	}
	return &Executor{
		log:     o.Logger,
		secret:  o.Redact,
		host:    host,
		queue:   newQueue(maxRunning(o.MaxRunning)),
		env:     baseEnv(o.Env),
		shell:   defaultShell(o.Env),
		buffers: sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }},
		closing: make(chan struct{}),
		live:    map[*follower]struct{}{},
	}, nil
}

// maxRunning fills in the default of Options.MaxRunning.
func maxRunning(n int) int {
	if n < 1 {
		return 4 * runtime.NumCPU()
	}
	return n
}

// SetMaxRunning changes Options.MaxRunning at once; commands that run already go on.
func (e *Executor) SetMaxRunning(n int) { e.queue.setMax(maxRunning(n)) }

// Load is how many commands run now, and how many wait for their turn.
func (e *Executor) Load() (running, waiting int) { return e.queue.load() }

// Capabilities says how well this host lets us end process trees. On Linux the answer may turn from "cgroup" to
// "subreaper" with the first run, when the system refuses to start a process in a cgroup.
func (e *Executor) Capabilities() Capabilities {
	c := e.host.capabilities()
	c.Shell = e.shell
	return c
}

// Close cancels what runs or waits and ends its processes, stops reading from left-over children of finished commands
// (they live on, but may die at their next write), and gives back what the system lent us. Run refuses from then on.
func (e *Executor) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	close(e.closing)
	for f := range e.live {
		f.interrupt()
	}
	e.mu.Unlock()

	e.runs.Wait()
	e.mu.Lock()
	left := slices.Collect(maps.Keys(e.live))
	e.mu.Unlock()
	for _, f := range left {
		f.closePipes()
	}
	e.reads.Wait()
	return e.host.close()
}

// begin counts a call of Run, unless Close was called.
func (e *Executor) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.runs.Add(1)
	return true
}

// watch registers a run that was started.
func (e *Executor) watch(f *follower) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[f] = struct{}{}
	if e.closed {
		f.interrupt()
	}
}

// letGo is called when a run has ended and when its pipes are closed; after both it is forgotten.
func (e *Executor) letGo(f *follower) {
	if f.holds.Add(-1) > 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, f)
}

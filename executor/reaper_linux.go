package executor

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// reapEvery is the time between two looks at our children, while there may be orphans.
	reapEvery = 200 * time.Millisecond
	// strangerAge is how long a dead child that we cannot attribute stays unreaped: somebody else may have started it
	// and be about to wait for it.
	strangerAge = 2 * time.Second
	// maxLooks is how often the tree is looked at when it seems to have ended meanwhile.
	maxLooks = 10
	// wideTree is the number of processes from which on a tree is wide.
	wideTree = 50
	// quietLooks is how often chase finds no orphan before it gives up.
	quietLooks = 20
)

// reaper knows the process trees where no cgroup does, and reaps the orphans that this process adopts as a subreaper
// or as process 1.
//
// The tree of a run is its direct child, the orphans that are attributed to it, and the descendants of those. When a
// process dies, its children become ours. Such an orphan belongs to the run whose MAISHELL_RUN_ID stands in its
// environment; if it hides that, to the run in whose session it is; if it has left that too, to the only run that is
// old enough. What remains: with several commands running, a process that cleared its environment, left its session
// and lost its parent cannot be attributed and survives. So does one that forks faster than we look, until it slows down.
type reaper struct {
	signals signaller
	session int    // our own
	environ []byte // our own, as others read it
	list    int    // descriptor of the list of our main thread's children, to whom orphans are added; -1: none

	mu        sync.Mutex
	runs      map[int]*child    // by pid, from the start to release
	owners    map[int]*child    // by pid of an adopted orphan; the run may have been released
	strangers map[int]time.Time // dead orphans of unknown origin, since when
	started   bool
	idle      bool          // whether loop waits for wake
	wake      chan struct{} // holds one
	stop      chan struct{}
	done      chan struct{}
}

func newReaper(signals signaller) *reaper {
	return &reaper{
		signals:   signals,
		runs:      map[int]*child{},
		owners:    map[int]*child{},
		strangers: map[int]time.Time{},
		wake:      make(chan struct{}, 1),
		stop:      make(chan struct{}),
		done:      make(chan struct{}),
		list:      -1,
	}
}

// start begins to reap.
func (r *reaper) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return
	}
	r.started = true
	if own, ok := readStat(r.signals.self); ok {
		r.session = own.session
	}
	r.environ, _ = os.ReadFile("/proc/self/environ") // empty: then nothing equals it
	self := strconv.Itoa(r.signals.self)
	if fd, err := unix.Open("/proc/self/task/"+self+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		r.list = fd
	}
	go r.loop()
}

// close stops reaping.
func (r *reaper) close() {
	r.mu.Lock()
	started := r.started
	r.mu.Unlock()
	if !started {
		return
	}
	close(r.stop)
	<-r.done
	r.reap()
	if r.list >= 0 {
		closeAll(r.list)
	}
}

// loop looks for dead orphans while there may be some. A signal at every death would cost a run more than the look.
func (r *reaper) loop() {
	defer close(r.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if r.reap() {
			timer.Reset(reapEvery)
		} else {
			timer.Stop()
		}
		select {
		case <-timer.C:
		case <-r.wake:
		case <-r.stop:
			return
		}
	}
}

// add registers a run that was started, drop one whose resources are given up.
func (r *reaper) add(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[c.id] = c
	if r.idle {
		r.idle = false
		r.wake <- struct{}{}
	}
	delete(r.strangers, c.id) // it was quicker than we
}

func (r *reaper) drop(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs[c.id] == c {
		delete(r.runs, c.id)
	}
}

// reap collects dead orphans, each by its own pid, and returns whether there may be some later.
func (r *reaper) reap() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	pids := r.orphans()
	if len(r.strangers) > 0 { // others may have reaped some
		listed := make(map[int]bool, len(pids))
		for _, pid := range pids {
			listed[pid] = true
		}
		maps.DeleteFunc(r.strangers, func(pid int, _ time.Time) bool { return !listed[pid] })
	}
	for _, pid := range pids {
		if r.owners[pid] != nil || r.mayReap(pid) {
			r.collect(pid)
		}
	}
	r.idle = len(pids) == 0 && len(r.runs) == 0 && r.signals.self != 1
	return !r.idle
}

// mayReap decides about an orphan that no look at a tree has attributed yet.
func (r *reaper) mayReap(pid int) bool {
	if since, known := r.strangers[pid]; known {
		return time.Since(since) >= strangerAge
	}
	s, ok := readStat(pid)
	if !ok || !s.zombie || s.session == r.session {
		return false // alive; or no orphan at all: what our runs start is never in our session
	}
	if s.session != pid && r.bySession(s.session) != nil {
		return true
	}
	r.strangers[pid] = time.Now()
	return false
}

// bySession returns the run that made a session, or to which the maker of the session belongs.
func (r *reaper) bySession(session int) *child {
	if c := r.runs[session]; c != nil {
		return c
	}
	for _, c := range r.owners {
		if c.id == session {
			return c
		}
	}
	return r.owners[session]
}

// orphans returns our children that are not the direct child of a run. r.mu is held.
func (r *reaper) orphans() []int {
	pids := r.children()
	return slices.DeleteFunc(pids, func(pid int) bool { return r.runs[pid] != nil && !r.runs[pid].hasEnded() })
}

// children returns the pids of our children, as far as they can be orphans: those go to the main thread.
func (r *reaper) children() []int {
	if r.list >= 0 {
		if text := readAll(r.list); len(text) < procPage/2 {
			return pidList(text)
		}
	}
	var pids []int
	for pid, s := range readProcs() {
		if s.parent == r.signals.self {
			pids = append(pids, pid)
		}
	}
	return pids
}

// members returns the processes of c's tree, without zombies.
func (r *reaper) members(c *child) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var roots []int
	for range maxLooks {
		roots = r.roots(c)
		if len(roots) == 0 {
			// The kernel may skip one in its list while another is taken out.
			if roots = r.roots(c); len(roots) == 0 {
				return nil
			}
		}
		if pids := r.tree(roots); len(pids) > 0 {
			return pids
		}
		// They ended meanwhile; their children are ours now.
	}
	return roots
}

// roots returns the direct child of c and the orphans of its tree, as far as they are not dead. r.mu is held.
func (r *reaper) roots(c *child) []int {
	var roots []int
	if !c.reap() {
		roots = append(roots, c.id)
	}
	for _, pid := range r.orphans() {
		if _, dead := r.strangers[pid]; !dead && r.owner(pid) == c && !r.collect(pid) {
			roots = append(roots, pid)
		}
	}
	return roots
}

// collect reaps an orphan that is known as such, if it is dead, and returns whether it was. r.mu is held.
func (r *reaper) collect(pid int) bool {
	var ws syscall.WaitStatus
	got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
	if got != pid && !errors.Is(err, syscall.ECHILD) {
		return false
	}
	delete(r.owners, pid)
	delete(r.strangers, pid)
	return true
}

// chase kills orphans of c as they come. A process that forks and exits over and over is gone before a look at all
// processes is finished, but each exit makes the next one our child.
func (r *reaper) chase(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := time.Now().Add(dyingTime / 2)
	for quiet := 0; quiet < quietLooks && time.Now().Before(until); quiet++ {
		for _, pid := range r.roots(c) {
			_ = r.signals.toProcess(pid, syscall.SIGKILL) // it may be gone
			quiet = 0
		}
	}
}

// owner returns the run that an orphan belongs to, nil if that is not known. r.mu is held.
func (r *reaper) owner(pid int) *child {
	c := r.owners[pid]
	if c == nil {
		if c = r.attribute(pid); c != nil {
			r.owners[pid] = c
		}
	}
	return c
}

// attribute finds the run of an orphan, see reaper.
func (r *reaper) attribute(pid int) *child {
	s, ok := readStat(pid)
	if !ok || s.session == r.session {
		return nil
	}
	if s.zombie {
		if s.session == pid {
			r.strangers[pid] = time.Now()
			return nil
		}
		return r.bySession(s.session)
	}
	environ := readProcFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if len(environ) > 0 && bytes.Equal(environ, r.environ) {
		return nil // being started by us at this moment: not an orphan
	}
	if id, marked := markIn(environ); marked {
		return r.byRunID(id)
	}
	if s.session != pid {
		if c := r.bySession(s.session); c != nil {
			return c
		}
	}
	var only *child
	for c := range r.candidates() {
		if c.started > s.start {
			continue
		}
		if only != nil {
			return nil
		}
		only = c
	}
	return only
}

// candidates returns the runs that may have orphans.
func (r *reaper) candidates() map[*child]bool {
	all := map[*child]bool{}
	for _, c := range r.runs {
		all[c] = true
	}
	for _, c := range r.owners {
		all[c] = true
	}
	return all
}

func (r *reaper) byRunID(id string) *child {
	for c := range r.candidates() {
		if c.runID == id {
			return c
		}
	}
	return nil
}

// markIn returns the run id that stands in the environment block of a process.
func markIn(environ []byte) (string, bool) {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if id, ok := bytes.CutPrefix(entry, []byte(envRunID+"=")); ok {
			return string(id), true
		}
	}
	return "", false
}

// tree returns the living among roots and all that descends from them, ascending. A small tree is followed from process
// to process; for a wide one, or where the kernel lists no children, it is quicker to look at all processes.
func (r *reaper) tree(roots []int) []int {
	if r.list < 0 {
		return descendants(readProcs(), roots)
	}
	seen := map[int]bool{}
	var pids []int
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		pid := queue[0]
		s, ok := readStat(pid)
		if !ok || s.zombie || seen[pid] {
			continue
		}
		seen[pid] = true
		if pids = append(pids, pid); len(pids) > wideTree {
			return descendants(readProcs(), roots)
		}
		queue = append(queue, childrenOf(pid)...)
	}
	slices.Sort(pids)
	return pids
}

// descendants returns the living among roots and all that descends from them, ascending.
func descendants(procs map[int]procStat, roots []int) []int {
	children := map[int][]int{}
	for pid, s := range procs {
		children[s.parent] = append(children[s.parent], pid)
	}
	var pids []int
	seen := map[int]bool{}
	for len(roots) > 0 {
		pid := roots[0]
		roots = roots[1:]
		s, ok := procs[pid]
		if !ok || seen[pid] {
			continue
		}
		seen[pid] = true
		roots = append(roots, children[pid]...)
		if !s.zombie {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

package executor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	groupPrefix = "maishell-"
	// maxSpare is how many unused directories are kept for the next runs.
	maxSpare  = 128
	makeTries = 5
	// sweepEvery is how often the directories of left-over processes are looked at.
	sweepEvery = time.Second
)

// cgroups makes one cgroup v2 directory per run, below one directory per process of ours, and uses them again. A
// process cannot leave its cgroup by forking, so what is in the directory is the tree, whatever it did to hide.
// (Root, who may write to other cgroups, can move itself out.)
type cgroups struct {
	path string // our directory
	lock int    // descriptor of path, locked while we live

	mu    sync.Mutex
	next  int
	spare []*cgroup
	busy  []string // directories that left-over processes still live in
	swept time.Time
}

// cgroup is the directory of one run.
type cgroup struct {
	owner  *cgroups
	path   string
	dir    int // descriptor of path
	events int // descriptor of path/cgroup.events
	killed atomic.Bool
	empty  atomic.Bool // the last look found nothing, and nothing can have come since
}

// newCgroups finds a writable place, and removes what dead processes of ours left there.
func newCgroups() (*cgroups, error) {
	homes, err := cgroupHomes()
	if err != nil {
		return nil, err
	}
	err = errors.New("no cgroup v2 file system is mounted, or we are outside of it")
	for _, home := range homes {
		removeStale(home)
		var g *cgroups
		// Another instance that starts may take a directory for stale before it is locked.
		for range makeTries {
			if g, err = makeCgroups(home); err == nil {
				return g, nil
			}
			if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) && !errors.Is(err, unix.EWOULDBLOCK) {
				break
			}
		}
	}
	return nil, err
}

// makeCgroups makes our directory in home and tries it with a first run's directory.
func makeCgroups(home string) (*cgroups, error) {
	path, err := os.MkdirTemp(home, groupPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, err
	}
	g := &cgroups{path: path}
	g.lock, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = os.Remove(path)
		return nil, err
	}
	if err = unix.Flock(g.lock, unix.LOCK_EX|unix.LOCK_NB); err == nil {
		var first *cgroup
		if first, err = g.take(); err == nil {
			g.put(first, false)
			return g, nil
		}
	}
	g.close()
	return nil, err
}

// take returns an empty cgroup.
func (g *cgroups) take() (*cgroup, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.spare); n > 0 {
		c := g.spare[n-1]
		g.spare = g.spare[:n-1]
		return c, nil
	}
	g.sweep()
	g.next++
	c := &cgroup{owner: g, path: filepath.Join(g.path, strconv.Itoa(g.next)), dir: -1, events: -1}
	if err := os.Mkdir(c.path, 0o755); err != nil {
		return nil, err
	}
	if err := c.open(); err != nil {
		c.close()
		_ = os.Remove(c.path)
		return nil, err
	}
	return c, nil
}

// open opens what every run needs, and checks that the kernel (5.14) can kill by cgroup.
func (c *cgroup) open() (err error) {
	if err = unix.Access(filepath.Join(c.path, "cgroup.kill"), unix.W_OK); err != nil {
		return fmt.Errorf("cgroup.kill: %w", err)
	}
	if c.dir, err = unix.Open(c.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	c.events, err = unix.Open(filepath.Join(c.path, "cgroup.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return err
}

func (c *cgroup) close() {
	for _, fd := range []int{c.dir, c.events} {
		if fd >= 0 {
			closeAll(fd)
		}
	}
}

// put takes a cgroup back. unused says that nothing was started in it. One that was killed is not used again, because
// the kernel may still be at it, nor is one in which something lives on.
func (g *cgroups) put(c *cgroup, unused bool) {
	empty := unused || c.empty.Swap(false) || !c.populated()
	g.mu.Lock()
	defer g.mu.Unlock()
	if empty && !c.killed.Load() && len(g.spare) < maxSpare && g.lock >= 0 {
		g.spare = append(g.spare, c)
		return
	}
	c.close()
	if removeTree(c.path) != nil {
		g.busy = append(g.busy, c.path)
	}
	if g.lock < 0 {
		_ = syscall.Rmdir(g.path) // when this was the last
	}
}

// sweep removes the directories whose left-over processes ended. g.mu is held.
func (g *cgroups) sweep() {
	if len(g.busy) == 0 || time.Since(g.swept) < sweepEvery {
		return
	}
	g.swept = time.Now()
	g.busy = slices.DeleteFunc(g.busy, func(path string) bool { return removeTree(path) == nil })
}

// close removes what is empty. The rest goes when a later process of ours finds it.
func (g *cgroups) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lock < 0 {
		return
	}
	for _, c := range g.spare {
		c.close()
	}
	g.spare, g.busy = nil, nil
	_ = removeTree(g.path) // left-over processes may live in it
	closeAll(g.lock)
	g.lock = -1
}

// populated reports whether a process lives in c or below.
func (c *cgroup) populated() bool {
	var buf [128]byte
	n, err := unix.Pread(c.events, buf[:], 0)
	return err != nil || !bytes.Contains(buf[:max(n, 0)], []byte("populated 0"))
}

// members returns the processes in c and below; zombies are not listed.
func (c *cgroup) members() []int {
	if !c.populated() {
		c.empty.Store(true)
		return nil
	}
	var pids []int
	_ = filepath.WalkDir(c.path, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		text, _ := os.ReadFile(filepath.Join(path, "cgroup.procs")) // none: it was removed meanwhile
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 { // 0: not visible in our pid namespace
				pids = append(pids, pid)
			}
		}
		return nil
	})
	slices.Sort(pids)
	return slices.Compact(pids)
}

// kill ends everything in c and below, also what is being forked.
func (c *cgroup) kill() error {
	c.killed.Store(true)
	fd, err := unix.Openat(c.dir, "cgroup.kill", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeAll(fd)
	_, err = unix.Write(fd, []byte("1"))
	return err
}

// cgroupHomes returns the directories of our own cgroup in every cgroup v2 mount, also in hybrid set-ups, where it is
// mounted beside the v1 hierarchies.
func cgroupHomes() ([]string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return findHomes(string(own), string(mounts)), nil
}

// findHomes does it for the texts of /proc/self/cgroup and /proc/self/mountinfo.
func findHomes(own, mounts string) []string {
	inside := ""
	for line := range strings.Lines(own) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			inside = path
		}
	}
	if inside == "" || strings.HasPrefix(inside, "/..") {
		return nil // not in the part of the tree that we may see
	}
	var homes []string
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		rel, err := filepath.Rel(unescape(fields[3]), inside)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			homes = append(homes, filepath.Join(unescape(fields[4]), rel))
		}
	}
	return homes
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// removeStale removes the directories of dead processes of ours, as far as nothing lives in them. A live owner holds
// a lock, which says more than its pid would to somebody in another pid namespace.
func removeStale(home string) {
	entries, _ := os.ReadDir(home) // makeCgroups reports what is wrong with it
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), groupPrefix) {
			continue
		}
		path := filepath.Join(home, entry.Name())
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = removeTree(path)
		}
		closeAll(fd)
	}
}

// removeTree removes a cgroup and those below it; it fails if a process lives there.
func removeTree(path string) error {
	err := syscall.Rmdir(path)
	if err == nil || errors.Is(err, syscall.ENOENT) {
		return nil
	}
	entries, readErr := os.ReadDir(path)
	if readErr != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			_ = removeTree(filepath.Join(path, entry.Name())) // shows in the last try
		}
	}
	return syscall.Rmdir(path)
}

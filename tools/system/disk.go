package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/common"
	"github.com/shirou/gopsutil/v4/disk"

	"github.com/maishell/maishell/tools"
)

const (
	maxDisks     = 60
	diskDeadline = 2 * time.Second // all of them together; a dead network mount never answers
)

// Disk is one file system.
type Disk struct {
	Mount       string  `json:"mount"`
	Device      string  `json:"device"`
	Type        string  `json:"type"`
	Total       uint64  `json:"total_bytes"`
	Used        uint64  `json:"used_bytes"`
	Free        uint64  `json:"free_bytes"` // what an ordinary user can still write
	UsedPercent float64 `json:"used_percent"`
	Note        string  `json:"note,omitempty"`
}

// pseudo are file systems that hold no data on a medium.
const pseudo = " autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devfs devpts devtmpfs efivarfs fusectl hugetlbfs mqueue nsfs nullfs proc pstore ramfs rpc_pipefs securityfs selinuxfs squashfs sysfs tracefs fuse.lxcfs fuse.gvfsd-fuse fuse.portal "

// disk reports every real file system, or only the one that holds path.
func (s *source) disk(ctx context.Context, r *Report, path string) ([]Disk, error) {
	if path != "" {
		return s.diskOf(ctx, path)
	}
	// Our own view of the mounts, not that of process 1.
	ctx = context.WithValue(ctx, common.EnvKey, common.EnvMap{common.HostProcMountinfo: "/proc/self/mountinfo"})
	parts, err := disk.PartitionsWithContext(ctx, true)
	if err != nil {
		s.missing(r, topicDisk, err)
		return []Disk{}, nil
	}
	parts = selectMounts(parts, s.always())
	if len(parts) > maxDisks {
		r.Notes = append(r.Notes, s.opts.Texts().Say("tool_system.cut", topicDisk, maxDisks, len(parts)))
		parts = parts[:maxDisks]
	}
	return s.word(unique(s.disks.usage(ctx, parts))), nil
}

// always are the paths whose file system is reported even if it looks like none.
func (s *source) always() []string {
	paths := append([]string{rootPath()}, s.opts.Paths()...)
	if cwd, err := os.Getwd(); err == nil {
		paths = append(paths, cwd)
	}
	return paths
}

func rootPath() string { return filepath.VolumeName(os.TempDir()) + string(filepath.Separator) }

func (s *source) diskOf(ctx context.Context, path string) ([]Disk, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return nil, tools.Invalid("tool_system.path_not_absolute", "path", path)
	}
	parts, err := disk.PartitionsWithContext(ctx, true)
	if err != nil {
		return nil, fmt.Errorf("mounts: %w", err)
	}
	// The mount table alone decides, and the path itself is not touched: a caller who may not list directories must not
	// learn here what exists, and a file system that does not answer holds nobody up. Links are not followed, then.
	part := holder(parts, filepath.Clean(path))
	answer := s.disks.one(ctx, part.Mountpoint)
	if errors.Is(answer.err, fs.ErrNotExist) { // no mount holds it: a drive that is not there
		return nil, tools.Invalid("tool_system.path_missing", "path", path)
	}
	return s.word([]Disk{answer.disk(part)}), nil
}

func (s *source) word(disks []Disk) []Disk {
	for i, d := range disks {
		if d.Note != "" {
			disks[i].Note = s.opts.Texts().Say(d.Note)
		}
	}
	return disks
}

// holder is the mount with the longest prefix of path; of several at one place the last, which covers the others.
func holder(parts []disk.PartitionStat, path string) disk.PartitionStat {
	best := disk.PartitionStat{Mountpoint: path}
	longest := -1
	for _, p := range parts {
		if below(p.Mountpoint, path) && len(p.Mountpoint) >= longest {
			best, longest = p, len(p.Mountpoint)
		}
	}
	return best
}

func below(dir, path string) bool {
	dir = strings.TrimRight(dir, `/\`)
	return path == dir || strings.HasPrefix(path, dir) && (len(path) == len(dir) || os.IsPathSeparator(path[len(dir)]))
}

// selectMounts keeps real file systems and the holders of the paths, one mount per device: the one with the shortest
// path.
func selectMounts(parts []disk.PartitionStat, paths []string) []disk.PartitionStat {
	var out []disk.PartitionStat
	for _, p := range paths {
		if h := holder(parts, p); h.Fstype != "" && !slices.ContainsFunc(out, func(o disk.PartitionStat) bool { return sameMount(o, h) }) {
			out = append(out, h)
		}
	}
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b disk.PartitionStat) int { return len(a.Mountpoint) - len(b.Mountpoint) })
	for _, p := range sorted {
		if p.Fstype == "tmpfs" && p.Mountpoint != "/tmp" || strings.Contains(pseudo, " "+p.Fstype+" ") {
			continue
		}
		if !slices.ContainsFunc(out, func(o disk.PartitionStat) bool { return sameMount(o, p) }) {
			out = append(out, p)
		}
	}
	return out
}

// sameMount tells bind mounts of one device. Names without a path (overlay, tmpfs) are shared by different ones.
func sameMount(a, b disk.PartitionStat) bool {
	return a.Mountpoint == b.Mountpoint || a.Device == b.Device && strings.ContainsAny(a.Device, `/:\`)
}

// unique drops file systems that are another one seen through an overlay, and those without any size.
func unique(disks []Disk) []Disk {
	out := make([]Disk, 0, len(disks))
	for _, d := range disks {
		if d.Total == 0 && d.Note == "" {
			continue
		}
		seen := d.Type == "overlay" && slices.ContainsFunc(out, func(o Disk) bool {
			return o.Type == "overlay" && o.Total == d.Total && o.Free == d.Free
		})
		if !seen {
			out = append(out, d)
		}
	}
	return out
}

// diskReader asks file systems for their usage, each in a goroutine of its own because the question cannot be
// interrupted. One that is being asked is not asked again: later callers wait for the same answer, so that a dead mount
// costs one goroutine.
type diskReader struct {
	mu      sync.Mutex
	pending map[string]*question
}

// question is one usage being waited for. answer is set before done is closed.
type question struct {
	done   chan struct{}
	answer usage
}

func newDiskReader() *diskReader { return &diskReader{pending: map[string]*question{}} }

type usage struct {
	stat *disk.UsageStat
	err  error
}

var errNoAnswer = errors.New("no answer")

func (u usage) disk(p disk.PartitionStat) Disk {
	d := Disk{Mount: p.Mountpoint, Device: p.Device, Type: p.Fstype}
	switch {
	case errors.Is(u.err, errNoAnswer):
		d.Note = "tool_system.no_answer"
	case u.err != nil:
		d.Note = "tool_system.no_usage"
	default:
		d.Total, d.Used, d.Free, d.UsedPercent = u.stat.Total, u.stat.Used, u.stat.Free, tenth(u.stat.UsedPercent)
	}
	return d
}

// usage asks all of them at once and waits until the deadline.
func (r *diskReader) usage(ctx context.Context, parts []disk.PartitionStat) []Disk {
	ctx, cancel := context.WithTimeout(ctx, diskDeadline)
	defer cancel()
	out := make([]Disk, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() { out[i] = r.one(ctx, p.Mountpoint).disk(p) })
	}
	wg.Wait()
	return out
}

// one asks for one path, until the deadline.
func (r *diskReader) one(ctx context.Context, path string) usage {
	ctx, cancel := context.WithTimeout(ctx, diskDeadline)
	defer cancel()
	q := r.ask(path)
	select {
	case <-q.done:
		return q.answer
	case <-ctx.Done():
		return usage{err: errNoAnswer}
	}
}

// ask joins the question about a path or puts it.
func (r *diskReader) ask(path string) *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q := r.pending[path]; q != nil {
		return q
	}
	q := &question{done: make(chan struct{})}
	r.pending[path] = q
	go func() {
		stat, err := disk.Usage(path)
		q.answer = usage{stat: stat, err: err}
		r.mu.Lock()
		delete(r.pending, path)
		r.mu.Unlock()
		close(q.done)
	}()
	return q
}

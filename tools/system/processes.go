package system

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"
)

const (
	sampleInterval = 200 * time.Millisecond
	maxSampled     = 20000 // processes looked at
)

// Processes are the busiest and the largest. Command lines are left out: they may hold secrets.
type Processes struct {
	Total    int       `json:"total"`
	Matching *int      `json:"matching,omitempty"` // how many have the name that was asked for
	ByCPU    []Process `json:"by_cpu"`
	ByMemory []Process `json:"by_memory"`
}

// Process is one process. Its CPU is in percent of one core and may exceed 100.
type Process struct {
	PID        int32   `json:"pid"`
	Name       string  `json:"name"`
	User       string  `json:"user,omitempty"`
	CPUPercent float64 `json:"cpu_percent"`
	Memory     uint64  `json:"memory_bytes"` // resident
}

// busy fills in what needs two looks: how busy the processors and the processes are.
func (s *source) busy(ctx context.Context, r *Report, wantCPU, wantProcesses bool, a args) {
	var before map[int32]float64
	start := time.Now()
	if wantProcesses {
		before = cpuSeconds(ctx, s.pids(ctx, r))
	}
	percent, err := cpu.PercentWithContext(ctx, sampleInterval, false)
	if ctx.Err() != nil {
		return
	}
	if wantCPU {
		r.CPU = s.cpu(ctx)
		if err != nil {
			s.missing(r, "cpu.used_percent", err)
		}
		for _, p := range percent { // one figure for all cores together
			r.CPU.UsedPercent = tenth(p)
		}
	}
	if wantProcesses {
		l := look{pids: s.pids(ctx, r), before: before, limit: cmp.Or(a.Limit, defaultLimit)}
		l.after, l.passed = cpuSeconds(ctx, l.pids), time.Since(start)
		if a.Name != "" {
			l.only = named(ctx, l.pids, a.Name)
		}
		r.Processes = l.rank(ctx)
	}
}

func (s *source) cpu(ctx context.Context) *CPU {
	c := &CPU{}
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 {
		c.Model = infos[0].ModelName
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil {
		c.Logical = n
	}
	return c
}

// pids are the processes that are looked at. That there are more is noted once.
func (s *source) pids(ctx context.Context, r *Report) []int32 {
	pids, err := process.PidsWithContext(ctx)
	note := ""
	switch {
	case err != nil:
		note = s.opts.Texts().Say("tool_system.missing", topicProcesses, err)
	case len(pids) > maxSampled:
		note = s.opts.Texts().Say("tool_system.cut", topicProcesses, maxSampled, len(pids))
	}
	if note != "" && !slices.Contains(r.Notes, note) {
		r.Notes = append(r.Notes, note)
	}
	return pids[:min(len(pids), maxSampled)]
}

// cpuSeconds is the processor time that each process has used so far. One that ended meanwhile, or that we may not look
// into, is left out.
func cpuSeconds(ctx context.Context, pids []int32) map[int32]float64 {
	out := make(map[int32]float64, len(pids))
	for _, pid := range pids {
		p := process.Process{Pid: pid}
		if t, err := p.TimesWithContext(ctx); err == nil {
			out[pid] = t.User + t.System
		}
	}
	return out
}

// named are the processes whose program has a name, whatever its case, with or without .exe.
func named(ctx context.Context, pids []int32, name string) []int32 {
	plain := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".exe") }
	out := []int32{}
	for _, pid := range pids {
		p := process.Process{Pid: pid}
		if n, err := p.NameWithContext(ctx); err == nil && plain(n) == plain(name) {
			out = append(out, pid)
		}
	}
	return out
}

// look is what two looks at the processes found.
type look struct {
	pids          []int32 // at the second look
	only          []int32 // of these, the ones to report; nil: all that we may look into
	before, after map[int32]float64
	passed        time.Duration // between the looks
	limit         int
}

// rank sorts the processes of the second look. One that is new since the first has no CPU figure. Of those that were
// asked for by name also the ones are told that we may not look into.
func (l look) rank(ctx context.Context) *Processes {
	chosen := l.pids
	if l.only != nil {
		chosen = l.only
	}
	all := make([]Process, 0, len(chosen))
	for _, pid := range chosen {
		p := Process{PID: pid}
		seconds, seen := l.after[pid]
		if m, err := (&process.Process{Pid: pid}).MemoryInfoWithContext(ctx); err == nil && seen {
			p.Memory = m.RSS
		} else if l.only == nil {
			continue // ended meanwhile, or not for us to look into
		}
		if was, ok := l.before[pid]; ok && seen { // a number that was given to another process may count backwards
			p.CPUPercent = max(0, tenth((seconds-was)/l.passed.Seconds()*100))
		}
		all = append(all, p)
	}
	top := func(less func(a, b Process) int) []Process {
		slices.SortFunc(all, func(a, b Process) int { return cmp.Or(less(a, b), cmp.Compare(a.PID, b.PID)) })
		out := slices.Clone(all[:min(l.limit, len(all))])
		for i := range out {
			out[i].Name, out[i].User = whose(ctx, out[i].PID)
		}
		return out
	}
	r := &Processes{
		Total:    len(l.pids),
		ByCPU:    top(func(a, b Process) int { return cmp.Compare(b.CPUPercent, a.CPUPercent) }),
		ByMemory: top(func(a, b Process) int { return cmp.Compare(b.Memory, a.Memory) }),
	}
	if l.only != nil {
		n := len(l.only)
		r.Matching = &n
	}
	return r
}

// whose is the program name and the user of a process, as far as we may know.
func whose(ctx context.Context, pid int32) (name, user string) {
	p := process.Process{Pid: pid}
	if n, err := p.NameWithContext(ctx); err == nil {
		name = n
	}
	if u, err := p.UsernameWithContext(ctx); err == nil {
		user = u
	}
	return name, user
}

package system

import (
	"context"
	"net"
	"os"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// maxInterfaces bounds the network topic, maxAddresses each interface: container hosts have thousands.
const (
	maxInterfaces = 50
	maxAddresses  = 10
)

// host never calls host.Info: on Linux it may start lsb_release, on macOS it starts sw_vers.
func (s *source) host(ctx context.Context, r *Report) *Host {
	h := &Host{System: systemName, Architecture: architecture()}
	if name, err := os.Hostname(); err == nil {
		h.Name = name
	}
	h.Platform = platform(ctx)
	var err error
	if h.Kernel, err = host.KernelVersionWithContext(ctx); err != nil {
		s.missing(r, "host.kernel", err)
	}
	if h.UptimeSeconds, err = host.UptimeWithContext(ctx); err != nil {
		s.missing(r, "host.uptime_seconds", err)
	}
	return h
}

func (s *source) memory(ctx context.Context, r *Report) *Memory {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		s.missing(r, topicMemory, err)
		return nil
	}
	m := &Memory{Total: v.Total, Available: v.Available, Used: v.Total - min(v.Total, v.Available)}
	if m.Total > 0 {
		m.UsedPercent = tenth(float64(m.Used) / float64(m.Total) * 100)
	}
	swap, err := mem.SwapMemoryWithContext(ctx)
	if err != nil {
		s.missing(r, "memory.swap", err)
		return m
	}
	m.SwapTotal, m.SwapUsed = swap.Total, swap.Used
	return m
}

func (s *source) load(ctx context.Context, r *Report) *Load {
	l, err := loadAverage(ctx)
	switch {
	case err != nil:
		s.missing(r, topicLoad, err)
		return nil
	case l == nil:
		s.noProgram(r, topicLoad)
		return nil
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil {
		l.Cores = n
	}
	return l
}

func (s *source) network(r *Report) []Interface {
	all, err := net.Interfaces()
	if err != nil {
		s.missing(r, topicNetwork, err)
		return nil
	}
	if len(all) > maxInterfaces {
		r.Notes = append(r.Notes, s.opts.Texts().Say("tool_system.cut", topicNetwork, maxInterfaces, len(all)))
		all = all[:maxInterfaces]
	}
	out := make([]Interface, 0, len(all))
	for _, i := range all {
		entry := Interface{Name: i.Name, Up: i.Flags&net.FlagUp != 0, Addresses: []string{}}
		addrs, err := i.Addrs()
		if err != nil {
			s.missing(r, topicNetwork+"."+i.Name, err)
		}
		for _, a := range addrs[:min(len(addrs), maxAddresses)] {
			entry.Addresses = append(entry.Addresses, a.String())
		}
		out = append(out, entry)
	}
	return out
}

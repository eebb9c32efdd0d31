package system

import (
	"context"
	"math"
	"slices"
)

// Report is the body of the result. Sizes are bytes, percentages 0 to 100, times seconds. Only what was asked for is set.
type Report struct {
	Host      *Host       `json:"host,omitempty"`
	CPU       *CPU        `json:"cpu,omitempty"`
	Memory    *Memory     `json:"memory,omitempty"`
	Disk      []Disk      `json:"disk,omitzero"`
	Load      *Load       `json:"load,omitempty"`
	Processes *Processes  `json:"processes,omitempty"`
	Listeners []Listener  `json:"listeners,omitzero"`
	Network   []Interface `json:"network,omitzero"`
	Notes     []string    `json:"notes,omitempty"` // what is missing and why
}

// Host says what the machine is.
type Host struct {
	Name          string `json:"name,omitempty"`
	System        string `json:"system"`       // linux, darwin, windows
	Platform      string `json:"platform"`     // "Debian GNU/Linux 12", "macOS 15.1"
	Kernel        string `json:"kernel"`       // release
	Architecture  string `json:"architecture"` // amd64, arm64
	UptimeSeconds uint64 `json:"uptime_seconds"`
}

// CPU says what the processors are and how busy.
type CPU struct {
	Model       string  `json:"model,omitempty"`
	Logical     int     `json:"logical_cores"`
	UsedPercent float64 `json:"used_percent"` // of all cores together, over a fifth of a second
}

// Memory is the RAM and swap of the machine. Available is what programs can still get.
type Memory struct {
	Total       uint64  `json:"total_bytes"`
	Available   uint64  `json:"available_bytes"`
	Used        uint64  `json:"used_bytes"` // total less available
	UsedPercent float64 `json:"used_percent"`
	SwapTotal   uint64  `json:"swap_total_bytes"`
	SwapUsed    uint64  `json:"swap_used_bytes"`
}

// Load is the mean number of runnable processes over 1, 5 and 15 minutes.
type Load struct {
	One     float64 `json:"one"`
	Five    float64 `json:"five"`
	Fifteen float64 `json:"fifteen"`
	Cores   int     `json:"logical_cores"` // a load above it means waiting
}

// Interface is a network interface with its addresses.
type Interface struct {
	Name      string   `json:"name"`
	Up        bool     `json:"up"`
	Addresses []string `json:"addresses"` // CIDR form
}

// source gathers reports.
type source struct {
	opts  Options
	disks *diskReader
}

// report gathers what the arguments ask for. What cannot be had becomes a note; only a cancelled context or a path on
// no file system is an error.
func (s *source) report(ctx context.Context, a args) (*Report, error) {
	r := &Report{}
	topics := a.topics()
	asked := func(topic string) bool { return slices.Contains(topics, topic) }
	if asked(topicHost) {
		r.Host = s.host(ctx, r)
	}
	if asked(topicMemory) {
		r.Memory = s.memory(ctx, r)
	}
	if asked(topicLoad) {
		r.Load = s.load(ctx, r)
	}
	if asked(topicNetwork) {
		r.Network = s.network(r)
	}
	if asked(topicListeners) {
		r.Listeners = s.listeners(ctx, r, a.Port)
	}
	if asked(topicDisk) {
		var err error
		if r.Disk, err = s.disk(ctx, r, a.Path); err != nil {
			return nil, err
		}
	}
	if asked(topicCPU) || asked(topicProcesses) {
		s.busy(ctx, r, asked(topicCPU), asked(topicProcesses), a)
	}
	return r, ctx.Err()
}

// missing notes that a topic could not be had.
func (s *source) missing(r *Report, topic string, err error) {
	r.Notes = append(r.Notes, s.opts.Texts().Say("tool_system.missing", topic, err))
}

// noProgram notes that a topic would need a program.
func (s *source) noProgram(r *Report, topic string) {
	r.Notes = append(r.Notes, s.opts.Texts().Say("tool_system.needs_program", topic))
}

// tenth rounds a percentage or load to one decimal.
func tenth(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return math.Round(v*10) / 10
}

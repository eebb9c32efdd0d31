package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/maishell/maishell/texts"
)

const (
	usualTop     = 5  // processes shown
	maxListeners = 30 // listeners shown
)

// report is the result of get_system_info: the keys that answers are made of. A nil part was not told.
type report struct {
	Success bool   `json:"success"`
	Error   string `json:"error"`
	Status  string `json:"status"`
	Host    *struct {
		Name         string `json:"name"`
		Platform     string `json:"platform"`
		System       string `json:"system"`
		Kernel       string `json:"kernel"`
		Architecture string `json:"architecture"`
		Uptime       int64  `json:"uptime_seconds"`
	} `json:"host"`
	CPU *struct {
		Model       string  `json:"model"`
		Cores       int     `json:"logical_cores"`
		UsedPercent float64 `json:"used_percent"`
	} `json:"cpu"`
	Memory *struct {
		Total       uint64  `json:"total_bytes"`
		Available   uint64  `json:"available_bytes"`
		UsedPercent float64 `json:"used_percent"`
		SwapTotal   uint64  `json:"swap_total_bytes"`
		SwapUsed    uint64  `json:"swap_used_bytes"`
	} `json:"memory"`
	Load *struct {
		One     float64 `json:"one"`
		Five    float64 `json:"five"`
		Fifteen float64 `json:"fifteen"`
		Cores   int     `json:"logical_cores"`
	} `json:"load"`
	Disk      []disk     `json:"disk"`
	Processes *processes `json:"processes"`
	Listeners []listener `json:"listeners"`
	Notes     []string   `json:"notes"`
}

type disk struct {
	Mount       string  `json:"mount"`
	Total       uint64  `json:"total_bytes"`
	Free        uint64  `json:"free_bytes"`
	UsedPercent float64 `json:"used_percent"`
	Note        string  `json:"note"`
}

type processes struct {
	Total    int       `json:"total"`
	Matching *int      `json:"matching"` // with a name: how many have it
	ByCPU    []process `json:"by_cpu"`
	ByMemory []process `json:"by_memory"`
}

type process struct {
	PID    int     `json:"pid"`
	Name   string  `json:"name"`
	User   string  `json:"user"`
	CPU    float64 `json:"cpu_percent"`
	Memory uint64  `json:"memory_bytes"`
}

type listener struct {
	Protocol string `json:"protocol"`
	Address  string `json:"address"`
	Port     int    `json:"port"`
	PID      int    `json:"pid"`
	Program  string `json:"program"`
	User     string `json:"user"`
}

// answer words what the tool found. The result may stand inside a fence.
func answer(q question, result string, say *texts.Catalog) string {
	var r report
	start, end := strings.Index(result, "{"), strings.LastIndex(result, "}")
	if start < 0 || end < start || json.Unmarshal([]byte(result[start:end+1]), &r) != nil {
		return say.Say("offline.unreadable", infoTool)
	}
	if !r.Success {
		return say.Say("offline.failed", line(cmp.Or(r.Error, r.Status)))
	}
	w := wording{say: say, q: q, r: r}
	for _, topic := range q.topics {
		w.topic(topic)
	}
	w.notes()
	if len(w.lines) == 0 {
		return say.Say("offline.nothing")
	}
	return strings.Join(w.lines, "\n")
}

// wording collects the lines of an answer.
type wording struct {
	say   *texts.Catalog
	q     question
	r     report
	lines []string
}

func (w *wording) add(id string, args ...any) { w.lines = append(w.lines, w.say.Say(id, args...)) }

func (w *wording) topic(topic string) {
	r := w.r
	switch {
	case topic == "disk":
		w.disk()
	case topic == "memory" && r.Memory != nil:
		m := r.Memory
		w.add("offline.memory", percent(m.UsedPercent), size(m.Available), size(m.Total))
		switch {
		case m.SwapTotal > 0:
			w.add("offline.swap", size(m.SwapUsed), size(m.SwapTotal))
		case w.q.swap && !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "memory.swap") }):
			w.add("offline.no_swap")
		}
	case topic == "load" && r.Load != nil:
		w.add("offline.load", hundredths(r.Load.One), hundredths(r.Load.Five), hundredths(r.Load.Fifteen), r.Load.Cores)
	case topic == "cpu" && r.CPU != nil:
		w.add("offline.cpu", percent(r.CPU.UsedPercent), r.CPU.Cores)
		if r.CPU.Model != "" {
			w.add("offline.cpu_model", line(r.CPU.Model))
		}
	case topic == "host" && r.Host != nil:
		w.add("offline.host", line(r.Host.Name), line(cmp.Or(r.Host.Platform, r.Host.System)), line(r.Host.Kernel), line(r.Host.Architecture))
	case topic == "uptime" && r.Host != nil && r.Host.Uptime > 0:
		w.add("offline.uptime", w.duration(r.Host.Uptime/60))
	case topic == "processes" && r.Processes != nil && w.q.process != "":
		w.running(*r.Processes)
	case topic == "processes" && r.Processes != nil:
		w.busiest(*r.Processes)
	case topic == "listeners" && r.Listeners != nil:
		w.listeners()
	}
}

func (w *wording) disk() {
	for _, d := range w.r.Disk {
		mount := line(d.Mount)
		if w.q.path != "" && w.q.path != d.Mount {
			mount = w.say.Say("offline.disk_holds", mount, line(w.q.path))
		}
		if d.Note != "" {
			w.add("offline.disk_note", mount, line(d.Note))
			continue
		}
		w.add("offline.disk", mount, percent(d.UsedPercent), size(d.Free), size(d.Total))
	}
}

func (w *wording) busiest(p processes) {
	list, title := p.ByCPU, "offline.by_cpu"
	if w.q.by == "memory" {
		list, title = p.ByMemory, "offline.by_memory"
	}
	w.add(title, p.Total)
	for _, one := range list[:min(len(list), cmp.Or(w.q.top, usualTop))] {
		w.process(one)
	}
}

// running tells whether the program runs that was asked about.
func (w *wording) running(p processes) {
	switch {
	case p.Matching == nil:
		w.add("offline.unreadable", infoTool)
	case *p.Matching == 0:
		w.add("offline.not_running", w.q.process, p.Total)
	default:
		w.add("offline.running", w.q.process, *p.Matching)
		shown := min(len(p.ByCPU), usualTop)
		for _, one := range p.ByCPU[:shown] {
			w.process(one)
		}
		if more := *p.Matching - shown; more > 0 {
			w.add("offline.more", more)
		}
	}
}

func (w *wording) process(p process) {
	w.add("offline.process", w.program(p.Name), p.PID, w.user(p.User), figure(p.CPU), size(p.Memory))
}

// duration words a number of minutes, without parts that are zero.
func (w *wording) duration(minutes int64) string {
	var parts []string
	for _, part := range []struct {
		id string
		n  int64
	}{{"offline.days", minutes / (24 * 60)}, {"offline.hours", minutes / 60 % 24}, {"offline.minutes", minutes % 60}} {
		if part.n > 0 {
			parts = append(parts, w.say.Say(part.id, part.n))
		}
	}
	if len(parts) == 0 {
		return w.say.Say("offline.under_a_minute")
	}
	return strings.Join(parts, " ")
}

func (w *wording) listeners() {
	list := w.r.Listeners
	switch {
	case len(list) == 0 && w.q.port != 0:
		w.add("offline.port_free", w.q.port)
		return
	case w.q.port != 0:
		w.add("offline.port_taken", w.q.port)
	default:
		w.add("offline.listeners", len(list))
	}
	for _, l := range list[:min(len(list), maxListeners)] {
		address := line(l.Address) + ":" + strconv.Itoa(l.Port)
		if strings.Contains(l.Address, ":") {
			address = "[" + line(l.Address) + "]:" + strconv.Itoa(l.Port)
		}
		if l.PID == 0 {
			w.add("offline.listener_unknown", address, line(l.Protocol))
			continue
		}
		w.add("offline.listener", address, line(l.Protocol), w.program(l.Program), l.PID, w.user(l.User))
	}
	if more := len(list) - maxListeners; more > 0 {
		w.add("offline.more", more)
	}
}

// notes are what the tool could not tell. That nobody listens on a port has been said.
func (w *wording) notes() {
	if w.q.port != 0 && w.r.Listeners != nil && len(w.r.Listeners) == 0 {
		return
	}
	for _, n := range w.r.Notes {
		w.add("offline.note", line(n))
	}
}

func (w *wording) program(name string) string {
	if name == "" {
		return w.say.Say("offline.no_name")
	}
	return line(name)
}

func (w *wording) user(name string) string {
	if name == "" {
		return w.say.Say("offline.no_user")
	}
	return line(name)
}

// line makes a text from the host fit on one line.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// size is a number of bytes in binary units, with one decimal from KiB on.
func size(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10) + " B"
	}
	value, units := float64(n)/1024, []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for value >= 1023.95 && len(units) > 1 { // what would print as 1024.0
		value, units = value/1024, units[1:]
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}

// percent is a share with at most one decimal.
func percent(p float64) string { return figure(p) + "%" }

// hundredths is a number with two decimals.
func hundredths(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// figure is a number with at most two decimals.
func figure(v float64) string {
	return strings.TrimRight(strings.TrimRight(hundredths(v), "0"), ".")
}

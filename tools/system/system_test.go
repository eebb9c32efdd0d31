package system

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v4/disk"

	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/internal/tooltest"
)

func view(t *testing.T, lang string, paths ...string) *tools.View {
	t.Helper()
	cat := tooltest.Catalog(t, lang)
	tool, err := New(Options{Texts: cat, Paths: func() []string { return paths }})
	if err != nil {
		t.Fatal(err)
	}
	return tooltest.Registry(t, &tooltest.Door{}, tooltest.NewRank(roles.User).Of, cat, tool).View(tooltest.Origin())
}

func report(t *testing.T, v *tools.View, args string) Report {
	t.Helper()
	res := v.Invoke(t.Context(), tools.Call{Name: "get_system_info", Args: json.RawMessage(args)})
	if !res.Success() {
		t.Fatalf("%s: %s", args, res.JSON())
	}
	if n := len(res.JSON()); n > 64<<10 {
		t.Errorf("%s: the result has %d bytes", args, n)
	}
	var r Report
	if err := json.Unmarshal(res.JSON(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDefaultTopics(t *testing.T) {
	t.Parallel()
	r := report(t, view(t, "en"), `{}`)
	if r.Host == nil || r.Host.Platform == "" || r.Host.Kernel == "" || r.Host.UptimeSeconds == 0 || r.Host.Architecture == "" {
		t.Errorf("host %+v", r.Host)
	}
	if r.CPU == nil || r.CPU.Logical < 1 || r.CPU.UsedPercent < 0 || r.CPU.UsedPercent > 100 {
		t.Errorf("cpu %+v", r.CPU)
	}
	if m := r.Memory; m == nil || m.Total == 0 || m.Used+m.Available != m.Total || m.UsedPercent <= 0 || m.UsedPercent > 100 {
		t.Errorf("memory %+v", m)
	}
	if len(r.Disk) == 0 || r.Disk[0].Total == 0 || r.Disk[0].UsedPercent < 0 || r.Disk[0].UsedPercent > 100 {
		t.Errorf("disk %+v", r.Disk)
	}
	if r.Processes != nil || r.Listeners != nil || r.Network != nil {
		t.Error("more was reported than by default")
	}
}

func TestOneTopicAtATime(t *testing.T) {
	t.Parallel()
	v := view(t, "en")
	for _, topic := range []string{"host", "cpu", "memory", "disk", "load", "processes", "listeners", "network"} {
		got := tooltest.Call(t, v, "get_system_info", tooltest.Args(t, "topics", []string{topic}))
		_, noted := got["notes"]
		if got["success"] != true || got[topic] == nil && !noted {
			t.Errorf("%s: %v", topic, got)
		}
		delete(got, "success")
		delete(got, "status")
		delete(got, "notes")
		delete(got, topic)
		if len(got) != 0 {
			t.Errorf("%s: also reported %v", topic, got)
		}
	}
}

func TestDiskHoldsRootAndWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := report(t, view(t, "en", dir), `{"topics":["disk"]}`)
	seen := map[string]bool{}
	for _, d := range r.Disk {
		if seen[d.Mount] {
			t.Errorf("%s is reported twice", d.Mount)
		}
		seen[d.Mount] = true
		if strings.Contains(pseudo, " "+d.Type+" ") {
			t.Errorf("%+v is no real file system", d)
		}
	}
	if !seen[rootPath()] && !seen[strings.TrimRight(rootPath(), `\`)] {
		t.Errorf("the root is missing in %+v", r.Disk)
	}
	one := report(t, view(t, "en"), tooltest.Args(t, "path", dir))
	if len(one.Disk) != 1 || one.Disk[0].Total == 0 || !below(one.Disk[0].Mount, dir) {
		t.Errorf("file system of %s: %+v", dir, one.Disk)
	}
	// What is not there is answered like what is: the answer must not tell which paths exist.
	none := report(t, view(t, "en"), tooltest.Args(t, "path", filepath.Join(dir, "nothing", "here")))
	if len(none.Disk) != 1 || none.Disk[0].Mount != one.Disk[0].Mount {
		t.Errorf("file system of a path that does not exist: %+v", none.Disk)
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	en, zh := view(t, "en"), view(t, "zh")
	for _, tt := range []struct{ args, want string }{
		{`{"topics":["gpu"]}`, "topics[0] must be one of host, cpu"},
		{`{"topics":7}`, "topics must be a list"},
		{`{"topic":"disk"}`, "use topics"},
		{`{"port":0}`, "port must be from 1 to 65535"},
		{`{"port":70000}`, "port must be from 1 to 65535"},
		{`{"limit":51}`, "limit must be from 1 to 50"},
		{`{"path":"tmp"}`, "path must be an absolute path"},
		{`{"path":"/\u0000"}`, "path must be an absolute path"},
	} {
		got := tooltest.Call(t, en, "get_system_info", tt.args)
		if got["status"] != "invalid_argument" || !strings.Contains(got.Text("error"), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, got, tt.want)
		}
		if got := tooltest.Call(t, zh, "get_system_info", tt.args); !strings.Contains(got.Text("error"), "参数") {
			t.Errorf("%s: %v", tt.args, got)
		}
	}
}

func TestListenersNameUs(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	for protocol, port := range map[string]int{"tcp": l.Addr().(*net.TCPAddr).Port, "udp": u.LocalAddr().(*net.UDPAddr).Port} {
		r := report(t, view(t, "en"), tooltest.Args(t, "port", port))
		if r.Listeners == nil {
			t.Skipf("not on this system: %v", r.Notes)
		}
		found := false
		for _, got := range r.Listeners {
			if got.Port != port {
				t.Errorf("%+v was not asked for", got)
			}
			found = found || got.Protocol == protocol && got.Address == "127.0.0.1" && int(got.PID) == os.Getpid() && got.Program != ""
		}
		if !found {
			t.Errorf("%s port %d: %+v, want us", protocol, port, r.Listeners)
		}
	}
	free := l.Addr().(*net.TCPAddr).Port
	l.Close()
	r := report(t, view(t, "en"), tooltest.Args(t, "port", free))
	if r.Listeners == nil || len(r.Listeners) != 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "nobody listens") {
		t.Errorf("port that is free: %+v", r)
	}
}

func TestProcessesKnowUs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pids := (&source{}).pids(ctx, &Report{})
	p := look{pids: pids, before: cpuSeconds(ctx, pids), after: cpuSeconds(ctx, pids), passed: sampleInterval, limit: maxSampled}.rank(ctx)
	found := false
	for _, got := range p.ByMemory {
		found = found || int(got.PID) == os.Getpid() && got.Memory > 1<<20 && got.Name != ""
	}
	if !found || p.Total < 2 {
		t.Errorf("we are not among %d processes", p.Total)
	}
	r := report(t, view(t, "en"), `{"topics":["processes"],"limit":1}`)
	if len(r.Processes.ByCPU) != 1 || len(r.Processes.ByMemory) != 1 || r.Processes.Total < 2 {
		t.Errorf("%+v", r.Processes)
	}
}

func TestProcessesByName(t *testing.T) {
	t.Parallel()
	self := filepath.Base(os.Args[0])
	bare := strings.TrimSuffix(self, ".exe")
	for _, name := range []string{self, strings.ToUpper(bare), bare + ".exe"} {
		r := report(t, view(t, "en"), tooltest.Args(t, "name", name, "limit", 50))
		found := false
		for _, got := range r.Processes.ByCPU {
			found = found || int(got.PID) == os.Getpid()
			if !strings.EqualFold(strings.TrimSuffix(got.Name, ".exe"), bare) {
				t.Errorf("%s: %+v was not asked for", name, got)
			}
		}
		if n := r.Processes.Matching; !found || n == nil || *n < 1 || r.Processes.Total < 2 || r.CPU != nil {
			t.Errorf("%s: we are not among %+v", name, r.Processes)
		}
	}
	p := report(t, view(t, "en"), `{"name":"no-such-program"}`).Processes
	if p == nil || p.Matching == nil || *p.Matching != 0 || len(p.ByCPU)+len(p.ByMemory) != 0 || p.Total < 2 {
		t.Errorf("a program that does not run: %+v", p)
	}
	if p := report(t, view(t, "en"), `{"topics":["processes"],"limit":1}`).Processes; p.Matching != nil {
		t.Errorf("without a name %d match", *p.Matching)
	}
	// What we may not look into counts and is told all the same.
	hidden := look{pids: []int32{1 << 30}, only: []int32{1 << 30}, limit: 1}.rank(t.Context())
	if *hidden.Matching != 1 || len(hidden.ByCPU) != 1 || hidden.ByCPU[0].CPUPercent != 0 {
		t.Errorf("%+v", hidden)
	}
}

func TestSelectMounts(t *testing.T) {
	t.Parallel()
	part := func(mount, device, typ string) disk.PartitionStat {
		return disk.PartitionStat{Mountpoint: mount, Device: device, Fstype: typ}
	}
	parts := []disk.PartitionStat{
		part("/", "overlay", "overlay"), part("/proc", "proc", "proc"), part("/dev/shm", "tmpfs", "tmpfs"), part("/tmp", "tmpfs", "tmpfs"),
		part("/data/deep", "/dev/sdb1", "ext4"), part("/data", "/dev/sdb1", "ext4"), part("/etc/hosts", "/dev/sda1", "ext4"),
		part("/site", "tmpfs", "tmpfs"), part("/nfs", "host:/x", "nfs4"), part("/sys/fs/cgroup", "cgroup2", "cgroup2"),
	}
	var got []string
	for _, p := range selectMounts(parts, []string{"/", "/site/dir", "/sites"}) {
		got = append(got, p.Mountpoint)
	}
	if want := "/ /site /tmp /nfs /data /etc/hosts"; strings.Join(got, " ") != want {
		t.Errorf("selected %v, want %s", got, want)
	}
	same := unique([]Disk{{Mount: "/", Type: "overlay", Total: 5, Free: 1}, {Mount: "/b", Type: "overlay", Total: 5, Free: 1}, {Mount: "/c", Type: "overlay", Total: 6, Free: 1}, {Mount: "/d"}, {Mount: "/e", Note: "x"}})
	if len(same) != 3 {
		t.Errorf("unique gave %+v", same)
	}
}

func TestDiskThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r := newDiskReader()
	stuck := &question{done: make(chan struct{})}
	r.pending["/stuck"] = stuck
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := r.usage(ctx, []disk.PartitionStat{{Mountpoint: "/stuck"}}); got[0].Note != "tool_system.no_answer" {
		t.Errorf("%+v", got)
	}
	stuck.answer = usage{stat: &disk.UsageStat{Total: 7}}
	close(stuck.done)
	if got := r.one(t.Context(), "/stuck"); got.stat == nil || got.stat.Total != 7 {
		t.Errorf("%+v", got)
	}
}

func TestNoSecretsOfProcesses(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(Process{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"cmdline", "args", "env"} {
		if strings.Contains(string(b), key) {
			t.Errorf("a process shows its %s", key)
		}
	}
}

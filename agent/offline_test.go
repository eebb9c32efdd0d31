package agent

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/maishell/maishell/llm/offline"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/system"
)

// TestOfflinePlanner asks the planner about this very host, through the pipeline and the real tool.
func TestOfflinePlanner(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	self := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	say := english(t)
	role := roles.User
	current := func() *texts.Catalog { return say }
	now := func(session.Origin) roles.Role { return role }
	registry := tools.NewRegistry(tools.Options{Guard: door(t, now), Role: now, Texts: current})
	info, err := system.New(system.Options{Texts: current})
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Add(info); err != nil {
		t.Fatal(err)
	}
	model := offline.New()
	a, err := New(Options{Model: model, Tools: registry, Texts: current, Role: now, Guests: func() string { return "chat" }})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"how full is the disk?", `(?m)^\S.*: \d+(\.\d+)?% used, [0-9.]+ [KMGTP]iB free of [0-9.]+ [KMGTP]iB$`},
		{"磁盘还剩多少？", `(?m)^\S.*：已用 \d+(\.\d+)?%，剩余 [0-9.]+ [KMGTP]iB，共 [0-9.]+ [KMGTP]iB$`},
		{"how much memory is free?", `Memory: \d+(\.\d+)?% used, [0-9.]+ [MGT]iB available of [0-9.]+ [MGT]iB`},
		{"开机多久了", `已运行 (\d+ (天|小时|分钟) ?)+|不到 1 分钟`},
		{"what is using the cpu?", `(?s)Busiest by CPU \(processes in all: \d+; .*\(pid \d+, `},
		{"CPU使用率多少", `CPU：占用 \d+(\.\d+)?%，\d+ 核`},
		{fmt.Sprintf("who listens on port %d?", port), fmt.Sprintf(`(?s)Port %d:\n  127\.0\.0\.1:%[1]d tcp: .*pid %d, |Note: `, port, os.Getpid())},
		{"is " + self + " running?", regexp.QuoteMeta(self) + ` is running \(\d+ found\)`},
		{"is no-such-program running?", `no-such-program is not running`},
		{"sing me a song", `No model is configured`},
	} {
		out := &screen{}
		outcome, err := a.turn(t.Context(), message(c.text), out)
		if err != nil || outcome != Finished || len(out.replies) != 1 || !regexp.MustCompile(c.want).MatchString(out.replies[0]) {
			t.Errorf("%q: %v %v\n%s\nwant %s", c.text, outcome, err, strings.Join(out.replies, "|"), c.want)
		}
	}
	role = roles.Guest
	out := &screen{}
	if _, err := a.turn(t.Context(), message("df"), out); err != nil || !strings.Contains(out.replies[0], "your role may not use it") {
		t.Errorf("as guest: %v %q", err, out.replies)
	}
}

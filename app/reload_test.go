package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/store"
)

// live is a started maishell whose configuration a test edits.
type live struct {
	*runtime

	t    testing.TB
	file string
	out  *logged
}

// logged is a log that may be read while it is written.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), what)
}

// begin starts maishell with a configuration of the given lines.
func begin(t testing.TB, lines ...string) *live {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := os.ReadFile(filepath.Join("..", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	l := &live{t: t, file: filepath.Join(home, "m.toml"), out: &logged{}}
	l.write(lines...)
	sys := system{
		env: []string{
			"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "LOCALAPPDATA=" + home, "LANG=en_US.UTF-8",
			"PATH=" + os.Getenv("PATH"), "MAISHELL_AGENT__MAX_ROUNDS=7",
		},
		out: io.Discard, err: l.out, defaults: defaults,
	}
	if l.runtime, err = start(t.Context(), sys, &options{config: l.file, logLevel: "info"}, "chat", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *live) write(lines ...string) {
	l.t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	if !strings.Contains(text, "[store]") { // never that of the machine
		text += fmt.Sprintf("[store]\ndir = %q\n", filepath.ToSlash(filepath.Join(filepath.Dir(l.file), "state")))
	}
	text = "config_version = 1\n" + text
	if err := os.WriteFile(l.file, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// edit writes the file and has it read by an admin's /reload.
func (l *live) edit(lines ...string) string {
	l.t.Helper()
	l.write(lines...)
	return l.reload.command(l.t.Context(), admin())
}

func admin() session.Origin {
	return session.Origin{Caller: roles.Caller{Platform: roles.LocalPlatform, UserID: "root"}, Session: "s1", Channel: "terminal"}
}

func (l *live) events() []audit.Record {
	l.t.Helper()
	recs, err := l.store.List(context.Background(), store.Filter{Kind: audit.Event})
	if err != nil {
		l.t.Fatal(err)
	}
	return recs
}

func (l *live) statusText() string {
	var lines []string
	for _, s := range l.status() {
		lines = append(lines, l.texts().Say(s.ID, s.Value))
	}
	return strings.Join(lines, "\n")
}

func (l *live) offered() bool {
	_, err := l.registry.View(admin()).Find("run_command")
	return err == nil
}

func wantText(t testing.TB, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%q is missing in:\n%s", p, got)
		}
	}
}

func TestReloadTakesEffect(t *testing.T) {
	t.Parallel()
	l := begin(t, "[shell]", "timeout_seconds = 60")
	got := l.edit("[shell]", "timeout_seconds = 5", "max_output_chars = 500", "[approval]", "wait_seconds = 3", "[agent]", "max_rounds = 9",
		"[permission]", `admins = ["qq:1"]`)
	wantText(t, got, "shell.timeout_seconds: 60 → 5", "shell.max_output_chars: 8000 → 500", "approval.wait_seconds: 120 → 3",
		`permission.admins: [] → ["qq:1"]`, "agent.max_rounds: 30 → 9 (in the file; no effect: MAISHELL_AGENT__MAX_ROUNDS")
	if s := l.shellSettings(); s.Timeout != 5*time.Second || s.MaxOutputChars != 500 {
		t.Errorf("%+v", s)
	}
	if s := l.set.get(); s.approvalWait != 3*time.Second || s.config.Agent.MaxRounds != 7 {
		t.Errorf("%v %v", s.approvalWait, s.config.Agent.MaxRounds)
	}
	if r := l.set.resolve(roles.Caller{Platform: "qq", UserID: "1"}).Role; r != roles.Admin {
		t.Errorf("qq:1 is %v", r)
	}
	recs := l.events()
	if len(recs) != 1 || recs[0].Status != "config_changed" || recs[0].Caller != "local:root" || recs[0].Role != "admin" || recs[0].Session != "s1" {
		t.Fatalf("%+v", recs)
	}
	wantText(t, recs[0].Detail, `permission.admins: [] → ["qq:1"]`)
	if got := l.edit("[shell]", "timeout_seconds = 60"); !strings.Contains(got, `permission.admins: ["qq:1"] → []`) {
		t.Error(got)
	}
	if got := l.edit("# nothing but a comment", "[shell]", "timeout_seconds = 60"); got != "Reloaded: nothing changed." {
		t.Error(got)
	}
	if n := len(l.events()); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestReloadShellAndLanguage(t *testing.T) {
	t.Parallel()
	l := begin(t)
	if !l.offered() {
		t.Fatal("no run_command")
	}
	l.edit("[shell]", "enabled = false")
	if l.offered() {
		t.Error("run_command is still offered")
	}
	wantText(t, l.edit("[shell]", "enabled = true", "[ui]", `language = "zh"`), "已重新加载")
	if !l.offered() {
		t.Error("run_command is not offered again")
	}
}

// A broken edit must change nothing, not even where a part of it is good.
func TestReloadOfABrokenFile(t *testing.T) {
	t.Parallel()
	l := begin(t, "[shell]", "timeout_seconds = 60")
	before := l.set.get()
	for _, lines := range [][]string{
		{"[shell]", "timeout_seconds = 5", "enabled = false", "max_output_chars = 1"},
		{"[shell]", "timeout_seconds = 5", "[shell"},
		{"[shell]", "timeout_seconds = 9999", "max_timeout_seconds = 10"},
		{"[permission]", `admins = ["nobody"]`, "[shell]", "timeout_seconds = 5"},
	} {
		wantText(t, l.edit(lines...), "not reloaded", "m.toml:")
		if l.set.get() != before || !l.offered() {
			t.Errorf("%q changed something", lines)
		}
		wantText(t, l.statusText(), "NOT IN FORCE", "m.toml:")
	}
	errorsSoFar := l.out.count("level=ERROR")
	for range 3 {
		l.reload.command(t.Context(), admin())
	}
	if n := l.out.count("level=ERROR"); errorsSoFar != 4 || n != 4 {
		t.Errorf("%d, then %d errors in the log, want 4", errorsSoFar, n)
	}
	if n := len(l.events()); n != 0 {
		t.Errorf("%d events", n)
	}
	l.edit("[shell]", "timeout_seconds = 60")
	if s := l.statusText(); strings.Contains(s, "NOT IN FORCE") {
		t.Error(s)
	}
}

func TestReloadKeepsWhatIsLost(t *testing.T) {
	t.Parallel()
	l := begin(t, "[shell]", "enabled = false")
	for name, lose := range map[string]func() error{
		"removed": func() error { return os.Remove(l.file) },
		"emptied": func() error { return os.WriteFile(l.file, nil, 0o600) },
		"replaced": func() error {
			if err := os.Remove(l.file); err != nil {
				return err
			}
			return os.Mkdir(l.file, 0o700)
		},
	} {
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		wantText(t, l.reload.command(t.Context(), admin()), "not reloaded", l.file)
		if l.offered() {
			t.Errorf("%s: the shell is on", name)
		}
		if err := os.RemoveAll(l.file); err != nil {
			t.Fatal(err)
		}
		l.write("[shell]", "enabled = false")
	}
}

func TestReloadSaysWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	l := begin(t)
	before := l.set.get()
	elsewhere := filepath.ToSlash(filepath.Join(t.TempDir(), "elsewhere"))
	lines := []string{"[store]", fmt.Sprintf("dir = %q", elsewhere), "[files]", fmt.Sprintf("workspace = %q", elsewhere+"-files")}
	wantText(t, l.edit(lines...), "(restart needed)")
	after := l.set.get()
	if after.storeDir != before.storeDir || after.workspace != before.workspace || !after.own.Contains(filepath.Join(before.storeDir, "x")) {
		t.Error("what is in use was let go")
	}
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("a directory was made")
	}
	wantText(t, l.statusText(), "restart needed for: files.workspace, store.dir")
	l.edit()
	if s := l.statusText(); strings.Contains(s, "restart needed") {
		t.Error(s)
	}
}

// Without a record nothing may change.
func TestReloadWithoutRecord(t *testing.T) {
	t.Parallel()
	l := begin(t)
	before := l.set.get()
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
	wantText(t, l.edit("[shell]", "timeout_seconds = 5"), "not reloaded")
	if l.set.get() != before {
		t.Error("it was swapped")
	}
}

func TestReloadCancelled(t *testing.T) {
	t.Parallel()
	l := begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.write("[shell]", "timeout_seconds = 5")
	before := l.set.get()
	if _, err := l.reload.reload(ctx, nil); err == nil || l.set.get() != before || l.reload.standing() != nil {
		t.Errorf("%v %v", err, l.reload.standing())
	}
}

// notices is a sink that keeps what was told besides replies.
type notices struct{ texts []string }

func (n *notices) Reply(context.Context, string) error { return nil }
func (n *notices) Notice(_ context.Context, text string) error {
	n.texts = append(n.texts, text)
	return nil
}

type silent struct{}

func (silent) Handle(context.Context, channels.Message, channels.Sink) error { return nil }

func TestWatchedReload(t *testing.T) {
	t.Parallel()
	l := begin(t)
	l.write("[shell]", "timeout_seconds = 59") // between the start and the watching
	if err := l.reload.watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.until("59", func() bool { return l.shellSettings().Timeout == 59*time.Second })
	l.write("[shell]", "timeout_seconds = 0")
	l.until("the error", func() bool { return l.out.count("m.toml:3:1") == 1 })
	l.write("[shell]", "timeout_seconds = 58")
	l.until("58", func() bool { return l.shellSettings().Timeout == 58*time.Second })
	l.until("the log", func() bool { return l.out.count("shell.timeout_seconds: 59 → 58") == 1 })

	out := &notices{}
	role := roles.User
	chat := announcing{silent{}, l.reload.news, func(session.Origin) roles.Role { return role }}
	tell := func() {
		if err := chat.Handle(t.Context(), channels.Message{}, out); err != nil {
			t.Fatal(err)
		}
	}
	if tell(); len(out.texts) > 0 {
		t.Errorf("a user was told %q", out.texts)
	}
	role = roles.Admin
	l.until("the news", func() bool { tell(); return len(out.texts) == 3 })
	wantText(t, out.texts[0], "60 → 59")
	wantText(t, out.texts[1], "m.toml:3:1")
	wantText(t, out.texts[2], "59 → 58")
	if tell(); len(out.texts) != 3 {
		t.Errorf("told twice: %q", out.texts)
	}
}

// TestEditIsInForceSoon measures from a save to the setting that a call gets.
func TestEditIsInForceSoon(t *testing.T) {
	t.Parallel()
	l := begin(t)
	if err := l.reload.watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for i := range 50 {
		want := time.Duration(100+i) * time.Second
		begun := time.Now()
		l.write("[shell]", fmt.Sprint("timeout_seconds = ", 100+i))
		l.until(want.String(), func() bool { return l.shellSettings().Timeout == want })
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	t.Log("p50", took[25], "most", took[49])
	if took[49] > 2*time.Second {
		t.Errorf("an edit took %v", took[49])
	}
}

func (l *live) until(what string, done func() bool) {
	l.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			l.t.Fatalf("still waiting for %s", what)
		}
	}
}

func BenchmarkReload(b *testing.B) {
	l := begin(b)
	for i := 0; b.Loop(); i++ {
		l.write("[shell]", fmt.Sprint("timeout_seconds = ", 60+i%2))
		if _, err := l.reload.reload(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

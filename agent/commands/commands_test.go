package commands

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name, rest string
		ok               bool
	}{
		{"/help", "help", "", true},
		{"/HELP", "help", "", true},
		{"／help", "help", "", true},
		{"／ｒｕｎ ls", "run", "ls", true},
		{"  /help", "help", "", true},
		{"/帮助", "帮助", "", true},
		{"／运行　ls -l", "运行", "ls -l", true},
		{"/run echo hi | tr a-z A-Z", "run", "echo hi | tr a-z A-Z", true},
		{"/run  two  spaces ", "run", " two  spaces ", true},
		{"/run\tls", "run", "ls", true},
		{"/run\nfor i in 1 2\ndo echo $i\ndone\n", "run", "for i in 1 2\ndo echo $i\ndone\n", true},
		{"/run\r\nls\r\n", "run", "ls\r\n", true},
		{"/run /bin/ls", "run", "/bin/ls", true},
		{"/run", "run", "", true},
		{"!ls -l", "run", "ls -l", true},
		{"！ls", "run", "ls", true},
		{"! ls", "run", " ls", true},
		{"!/bin/ls", "run", "/bin/ls", true},
		{"/run a\xffb", "run", "a\xffb", true},
		{"/etc/passwd 是什么", "", "", false},
		{"/usr/bin", "", "", false},
		{"//", "", "", false},
		{"/", "", "", false},
		{"/ help", "", "", false},
		{"!", "", "", false},
		{"!!!", "", "", false},
		{"！！", "", "", false},
		{"!! great", "", "", false},
		{"help", "", "", false},
		{"what is /help", "", "", false},
		{"", "", "", false},
	} {
		got, ok := parse(c.text)
		if ok != c.ok || got.name != c.name || got.rest != c.rest {
			t.Errorf("parse(%q) = %+v, %v, want %q %q %v", c.text, got, ok, c.name, c.rest, c.ok)
		}
	}
}

func TestParseKeepsTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rest := rapid.String().Draw(t, "rest")
		separator := rapid.SampledFrom([]string{" ", "\u3000", "\t", "\n"}).Draw(t, "separator")
		if got, ok := parse("/run" + separator + rest); !ok || got.name != "run" || got.rest != rest {
			t.Fatalf("%+v %v", got, ok)
		}
	})
}

func TestPathsAreNoCommands(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh"} {
		b := newBench(t, lang, roles.Admin)
		for text, want := range map[string]bool{
			"/tmp还剩多少空间": false, "/data2的空间": false, "／ｔｍｐ还剩多少": false, "/tmp 还剩多少空间": false, "/tmp": false, "/Users full?": false,
			"/rnu 磁盘": true, "/运行一下 ls": true, "/foo": true, "/run 磁盘": true, "/帮助": true, "/我是谁": true,
		} {
			if got, handled := b.send(t, text, false); handled != want {
				t.Errorf("%s: handled %v, said %q", text, handled, got)
			}
		}
		for name := range b.byName {
			if startsWithPath(name) {
				t.Errorf("the command %s looks like a path", name)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"help", "帮助", "whoami", "我是谁", "tools", "工具", "run", "运行", "status", "状态", "quit"}
	for name, want := range map[string]string{
		"hepl": "help", "hlp": "help", "tool": "tools", "runn": "run", "statsu": "status", "who": "whoami", "whoamI": "whoami", "运行一下": "运行",
		"我是": "我是谁", "xyz": "", "ls": "", "": "", "helping-hand": "help", "qiut": "quit", "x": "",
	} {
		if got := nearest(name, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := edits("kitten", "sitting"); got != 3 {
		t.Errorf("edits = %d", got)
	}
}

// allow is a decider without objections.
type allow struct{}

func (allow) Decide(context.Context, guard.Action) (guard.Decision, error) {
	return guard.Decision{Verdict: guard.Allow}, nil
}

// refusals is an audit sink that counts them.
type refusals struct{ n *int }

func (s refusals) Append(_ context.Context, r audit.Record) (audit.Record, error) {
	if r.Kind == audit.Refusal {
		*s.n++
	}
	return r, nil
}

type heard struct {
	replies []string
	err     error
}

func (h *heard) Reply(_ context.Context, text string) error {
	h.replies = append(h.replies, text)
	return h.err
}

func (h *heard) Notice(context.Context, string) error { return nil }

type runArgs struct {
	Command string `json:"command"`
}

// bench is a table over one tool, run_command, that remembers what it was told to run.
type bench struct {
	*Table
	out     *heard
	role    roles.Role
	origin  session.Origin
	ran     []string
	refused int
	result  tools.Result
}

func newBench(t *testing.T, lang string, role roles.Role) *bench {
	t.Helper()
	say, err := texts.New(lang)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{out: &heard{}, role: role, result: tools.Result{Body: map[string]any{"exit_code": 0, "stdout": "out\n"}}}
	b.origin = session.Origin{Caller: roles.Caller{Platform: "qq", UserID: "1", GroupID: "7"}, Session: "s", Channel: "terminal"}
	current := func() *texts.Catalog { return say }
	now := func(session.Origin) roles.Role { return b.role }
	door, err := guard.New(guard.Options{Deciders: []guard.Decider{allow{}}, Sink: refusals{&b.refused}, Role: now})
	if err != nil {
		t.Fatal(err)
	}
	registry := tools.NewRegistry(tools.Options{Guard: door, Role: now, Texts: current})
	tool, err := tools.Define(tools.Tool{
		Name: "run_command", Role: roles.Admin, Description: func(lang string) string { return "Run. " + lang + "\nmore" },
	}, nil, func(_ context.Context, a runArgs, _ guard.Action) (tools.Result, error) {
		b.ran = append(b.ran, a.Command)
		return b.result, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Add(tool); err != nil {
		t.Fatal(err)
	}
	b.Table, err = New(Options{
		Tools: registry, Texts: current, Role: now,
		Resolve: func(roles.Caller) roles.Resolution {
			return roles.Resolution{Role: roles.User, Lowered: true, Rule: roles.RuleLowered}
		},
		Reload: func(_ context.Context, o session.Origin) string { return "reloaded for " + o.Session },
		Status: func(session.Origin) []StatusLine {
			return []StatusLine{{ID: "commands.took", Value: "7"}, {ID: "commands.whoami_role", Value: "x"}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) send(t *testing.T, text string, quiet bool) (string, bool) {
	t.Helper()
	b.out.replies = nil
	handled, err := b.Handle(t.Context(), channels.Message{Origin: b.origin, Text: text}, b.out, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(b.out.replies, "|"), handled
}

func TestHelpShowsWhatTheRoleMayUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role    roles.Role
		channel string
		want    []string
	}{
		{roles.Admin, "terminal", []string{"help", "whoami", "tools", "run", "status", "reload", "quit"}},
		{roles.Admin, "onebot", []string{"help", "whoami", "tools", "run", "status", "reload"}},
		{roles.User, "onebot", []string{"help", "whoami", "tools", "status"}},
		{roles.Guest, "onebot", []string{"help", "whoami", "tools"}},
	} {
		for _, lang := range []string{"en", "zh"} {
			b := newBench(t, lang, c.role)
			b.origin.Channel = c.channel
			got, _ := b.send(t, "/help", false)
			for _, name := range []string{"help", "whoami", "tools", "run", "status", "reload", "quit"} {
				if strings.Contains(got, "  /"+name) != slices.Contains(c.want, name) {
					t.Errorf("%v on %s, %s:\n%s", c.role, c.channel, name, got)
				}
			}
		}
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	for role, want := range map[roles.Role]string{roles.Admin: "reloaded for s", roles.User: "admin"} {
		b := newBench(t, "en", role)
		for _, text := range []string{"/reload", "/重载"} {
			if got, _ := b.send(t, text, false); !strings.Contains(got, want) {
				t.Errorf("%v: %q", role, got)
			}
		}
		if got, _ := b.send(t, "/reload", true); role != roles.Admin && got != "" {
			t.Errorf("quiet: %q", got)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	b := newBench(t, "en", roles.User)
	for _, text := range []string{"/stop", "/停止"} {
		if got, _ := b.send(t, text, false); !strings.Contains(got, "Nothing of yours is running") || !b.Beside(text) {
			t.Errorf("%s: %q", text, got)
		}
	}
	if b.Beside("/run id") || b.Beside("stop") || !b.Is("/nonsense") || b.Is("/etc/passwd") {
		t.Error("only commands that look or stop go beside a turn")
	}
}

func TestRunCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t, "en", roles.Admin)
	for text, command := range map[string]string{
		"/run echo hi | tr a-z A-Z":        "echo hi | tr a-z A-Z",
		"/运行　echo '<&>' \"\\u003c\"  ":     "echo '<&>' \"\\u003c\"  ",
		"!printf 'a\\0b'\n\techo \u2028 🙂": "printf 'a\\0b'\n\techo \u2028 🙂",
		"/run cat <<E\r\nx\r\nE\r\n":       "cat <<E\r\nx\r\nE\r\n",
	} {
		b.ran = nil
		if got, handled := b.send(t, text, false); !handled || got != "out" || !slices.Equal(b.ran, []string{command}) {
			t.Errorf("%q: ran %q, said %q", text, b.ran, got)
		}
	}
	b.ran = nil
	for _, text := range []string{"/run", "/run   ", "! ", "/run a\xffb"} {
		if got, handled := b.send(t, text, false); !handled || got == "" || b.ran != nil {
			t.Errorf("%q: ran %q, said %q", text, b.ran, got)
		}
	}
}

func TestRunRefused(t *testing.T) {
	t.Parallel()
	for _, role := range []roles.Role{roles.Guest, roles.User} {
		b := newBench(t, "en", role)
		got, handled := b.send(t, "/run id", false)
		if !handled || b.ran != nil || got == "" || strings.Contains(got, "\n") || b.refused != 1 {
			t.Errorf("%v: ran %q, said %q, %d refusals recorded", role, b.ran, got, b.refused)
		}
		if got, handled := b.send(t, "/run id", true); !handled || got != "" {
			t.Errorf("%v, quiet: said %q", role, got)
		}
	}
}

func TestOtherCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t, "en", roles.User)
	b.origin.Ceiling = roles.Guest
	b.role = roles.Guest
	for text, want := range map[string][]string{
		"/whoami":   {"you: qq:1", "group: qq:group:7", "role: guest", "in groups admins count as users", "limited to role guest; without the limit you would have user"},
		"/tools":    {"no tools"},
		"/status":   {"/status is for role user and above"},
		"/hlep":     {"no command /hlep", "/help?"},
		"/rum":      {"no command /rum. /help"}, // what the caller may not use is not suggested
		"/a\u202eb": {`/a\u202eb`},
	} {
		got, handled := b.send(t, text, false)
		for _, w := range want {
			if !handled || !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", text, got, w)
			}
		}
	}
	b.role, b.origin.Ceiling = roles.Admin, roles.None
	if got, _ := b.send(t, "/tools", false); !strings.Contains(got, "  run_command: Run. en") || strings.Contains(got, "more") {
		t.Errorf("/tools: %q", got)
	}
	if got, _ := b.send(t, "/status", false); got != "took 7 s\nrole: x" {
		t.Errorf("/status: %q", got)
	}
	b.origin.Caller = roles.Caller{Platform: "qq"}
	if got, _ := b.send(t, "/我是谁", false); !strings.Contains(got, "nobody in particular") || strings.Contains(got, "group:") {
		t.Errorf("/whoami: %q", got)
	}
	if got, handled := b.send(t, "hello", false); handled || got != "" {
		t.Errorf("hello: %v %q", handled, got)
	}
	long, _ := b.send(t, "/"+strings.Repeat("磁", 100_000), false)
	if len(long) > 400 {
		t.Errorf("%d bytes about an unknown command", len(long))
	}
}

func TestQuit(t *testing.T) {
	t.Parallel()
	b := newBench(t, "zh", roles.Guest)
	for _, text := range []string{"/quit", "/退出", "/exit"} {
		handled, err := b.Handle(t.Context(), channels.Message{Origin: b.origin, Text: text}, b.out, false)
		if !handled || !errors.Is(err, channels.ErrQuit) {
			t.Errorf("%s: %v %v", text, handled, err)
		}
	}
	b.origin.Channel = "onebot"
	if got, handled := b.send(t, "/quit", false); !handled || !strings.Contains(got, "没有命令 /quit") {
		t.Errorf("elsewhere: %v %q", handled, got)
	}
}

func TestEveryTextIsThere(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh"} {
		b := newBench(t, lang, roles.Admin)
		ids := []string{}
		for _, c := range b.commands {
			ids = append(ids, c.Usage, c.About)
		}
		for _, rule := range []string{
			roles.RuleAdmins, roles.RuleAdminGroups, roles.RuleUsers, roles.RuleUserGroups, roles.RuleLocal, roles.RuleLowered,
			roles.RuleAnonymous, roles.RuleDefault,
		} {
			ids = append(ids, "commands.rule_"+rule)
		}
		for _, id := range ids {
			if got := b.opts.Texts().Say(id); got == id {
				t.Errorf("%s: no text %s", lang, id)
			}
		}
	}
}

func TestZeroOptions(t *testing.T) {
	t.Parallel()
	table, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := &heard{}
	m := channels.Message{Text: "/run id", Origin: session.Origin{Session: "s"}}
	if handled, err := table.Handle(t.Context(), m, out, false); !handled || err != nil || len(out.replies) != 1 {
		t.Errorf("%v %v %q", handled, err, out.replies)
	}
}

func TestFormatRun(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for _, c := range []struct {
		name   string
		result tools.Result
		en, zh string
	}{
		{"output", tools.Result{Status: "ok", Body: m{"exit_code": 0, "stdout": "a\nb\n"}}, "a\nb", "a\nb"},
		{"nothing", tools.Result{Status: "ok", Body: m{"exit_code": 0}}, "(done, no output)", "（已完成，没有输出）"},
		{"stderr", tools.Result{Status: "ok", Body: m{"exit_code": 0, "stderr": "warn\n"}}, "stderr:\nwarn", "标准错误：\nwarn"},
		{"both and exit code", tools.Result{Status: "ok", Body: m{"exit_code": 3, "stdout": "a\n\n", "stderr": "b\n"}}, "a\nstderr:\nb\nexit code 3", "a\n标准错误：\nb\n退出码 3"},
		{"signal", tools.Result{Status: "ok", Body: m{"exit_code": 137, "signal": "SIGKILL"}}, "exit code 137 (SIGKILL)", "退出码 137（SIGKILL）"},
		{"note", tools.Result{Status: "ok", Body: m{"exit_code": 127, "note": "not found"}}, "exit code 127\nnot found", "退出码 127\nnot found"},
		{"long", tools.Result{Status: "ok", Body: m{"exit_code": 0, "stdout": "x", "duration_seconds": 12.34}}, "x\ntook 12.3 s", "x\n耗时 12.3 秒"},
		{"timeout", tools.Result{Status: "timeout", Error: "timed out", Body: m{"exit_code": nil, "stdout": "half"}}, "half\ntimed out", "half\ntimed out"},
		{"refused", tools.Result{Status: "policy_denied", Error: "not allowed", Rule: "own-files", Body: m{"exit_code": nil}}, "not allowed (rule: own-files)", "not allowed（规则：own-files）"},
		{"refused by the floor", tools.Result{Status: "policy_denied", Error: "not allowed", Rule: "own_files", Body: m{"exit_code": nil}},
			"not allowed (a fixed rule, which protects maishell itself)", "not allowed（固定规则，用于保护 maishell 自身）"},
		{"not readable", tools.Result{Status: "policy_denied", Error: "1:1: no end", Rule: "parse", Body: m{"exit_code": 2, "stderr": "1:1: no end"}},
			"Nothing was run, because the shell text cannot be read: 1:1: no end", "shell 文本无法解析，未执行：1:1: no end"},
		{"refused without words", tools.Result{Status: "internal"}, "The command was not run to its end: internal.", "命令没有执行完：internal。"},
		{"spaces stay", tools.Result{Status: "ok", Body: m{"exit_code": 0, "stdout": "  a  \n"}}, "  a  ", "  a  "},
		{"escapes", tools.Result{Status: "ok", Body: m{"exit_code": 0, "stdout": "\x1b]0;x\a\r\nb\rc\n"}}, "\\x1b]0;x\\x07\nb\\x0dc", "\\x1b]0;x\\x07\nb\\x0dc"},
		{"running", tools.Result{Status: "running", Body: m{"exit_code": nil, "note": "pid 7"}}, "pid 7", "pid 7"},
	} {
		for lang, want := range map[string]string{"en": c.en, "zh": c.zh} {
			say, err := texts.New(lang)
			if err != nil {
				t.Fatal(err)
			}
			if got := FormatRun(c.result, say); got != want {
				t.Errorf("%s, %s: %q, want %q", c.name, lang, got, want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/run ls", "！ls", "／ＨＥＬＰ", "/a/b", "!", "/\xff", "/\u0130 x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parse(text)
		if ok && (got.name == "" || strings.ContainsAny(got.name, " \n\t") || !strings.HasSuffix(text, got.rest)) {
			t.Fatalf("%q: %+v", text, got)
		}
		if _, err := json.Marshal(got.rest); err != nil {
			t.Fatal(err)
		}
		nearest(got.name, []string{"help", "帮助"})
	})
}

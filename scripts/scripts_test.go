package scripts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/maishell/maishell/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load makes a set of the files, by name without .lua.
func load(t testing.TB, files map[string]string, change ...func(*Options)) (*Set, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name)+".lua")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Dir: dir, Timeout: 5 * time.Second, Location: time.UTC}
	for _, c := range change {
		c(&o)
	}
	return Load(o)
}

func mustLoad(t testing.TB, files map[string]string, change ...func(*Options)) *Set {
	t.Helper()
	s, err := load(t, files, change...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func action(command string) guard.Action {
	return guard.Action{Tool: "run_command", Command: command, Shell: "/bin/sh", Cwd: "/tmp", Timeout: time.Minute}
}

func decide(t testing.TB, s *Set, a guard.Action) guard.Decision {
	t.Helper()
	ctx := guard.WithAsker(context.Background(), guard.Asker{Call: "c1", Platform: "qq", UserID: "10001", GroupID: "7", Role: "admin", Session: "s1"})
	d, err := s.Decide(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func hook(body string) map[string]string {
	return map[string]string{"g": "local mai = require \"maishell\"\nmai.pre_exec(\"g\", function(call)\n" + body + "\nend)\n"}
}

// check runs Lua statements in a hook; they fail by raising.
func check(t *testing.T, body string) {
	t.Helper()
	if d := decide(t, mustLoad(t, hook(body)), action("k=kubectl; $k apply -f x >out")); d.Verdict != guard.Allow {
		t.Errorf("%v %v", d.Reason, d.Args)
	}
}

func TestShippedScriptsAndTheirTests(t *testing.T) {
	t.Parallel()
	all := Shipped()
	if len(all) != 5 {
		t.Fatalf("shipped: %v", all)
	}
	s := mustLoad(t, nil, func(o *Options) { o.Enable, o.Timeout = all, 0 })
	for _, i := range s.Scripts() {
		if i.Tests == 0 {
			t.Errorf("%s has no tests", i.Name)
		}
	}
	if len(s.Masks()) != 6 {
		t.Errorf("masks: %v", s.Masks())
	}
}

// The guard of a deployer, and every way around it that the analysis sees.
func TestRuns(t *testing.T) {
	t.Parallel()
	s := mustLoad(t, hook(`if call:runs("kubectl", "apply") then return mai.deny("no deploys") end`))
	for _, c := range []string{
		"kubectl apply -f x", "k=kubectl; $k apply", `eval "kubectl apply"`, "sh -c 'kubectl apply'", "env A=b kubectl apply",
		"cat x | kubectl apply -f -", "kubectl -n prod apply", "$(cat cmd)", "sudo kubectl apply", "true && /usr/bin/kubectl apply",
	} {
		if d := decide(t, s, action(c)); d.Verdict != guard.Deny || d.Rule != "script:g" || d.Reason != "lua.denied" || d.Args[0] != "no deploys" {
			t.Errorf("%s: %+v", c, d)
		}
	}
	for _, c := range []string{"kubectl get pods", "ls", "echo kubectl apply"} {
		if d := decide(t, s, action(c)); d.Verdict != guard.Allow {
			t.Errorf("%s: %+v", c, d)
		}
	}
	windows := action("kubectl apply")
	windows.Shell = `C:\Windows\System32\cmd.exe`
	if d := decide(t, s, windows); d.Verdict != guard.Deny {
		t.Errorf("text that cannot be read: %+v", d)
	}
}

func TestCallFields(t *testing.T) {
	t.Parallel()
	check(t, `
	local function eq(a, b) if a ~= b then error(tostring(a) .. " ~= " .. tostring(b), 2) end end
	eq(call.command, "k=kubectl; $k apply -f x >out"); eq(call.cwd, "/tmp"); eq(call.timeout_seconds, 60); eq(call.id, "c1")
	eq(call.tool, "run_command"); eq(call.session, "s1"); eq(call.caller.platform, "qq"); eq(call.caller.user_id, "10001")
	eq(call.caller.group_id, "7"); eq(call.caller.role, "admin"); eq(#call.reads, 0); eq(#call.writes, 0); eq(call.input, "")
	eq(call.opaque, false); eq(call.pty, false); eq(call.background, false); eq(call.elevated, false)
	eq(#call.commands, 2)
	eq(call.commands[1].env[1].name, "k"); eq(call.commands[1].env[1].text, "kubectl"); eq(call.commands[1].env[1].static, true)
	local c = call.commands[2]
	eq(c.program, "kubectl"); eq(c.static, true); eq(c.args[1].text, "apply"); eq(c.args[1].static, true); eq(#c.args, 3)
	eq(c.redirects[1].text, "out"); eq(c.redirects[1].writes, true); eq(c.redirects[1].op, ">")
	local ok, err = pcall(function() return c.effects end)
	eq(ok, false); assert(err:find("comes with the command policy", 1, true), err)
	assert(not pcall(function() return c.path end)); assert(not pcall(function() return c.nosuch end))
	assert(not pcall(function() return call.nosuch end)); assert(not pcall(function() call.command = "x" end))
	assert(not pcall(function() c.effects = {} end))`)
	s := mustLoad(t, map[string]string{"g": `local mai = require "maishell"
mai.pre_tool("t", function(call)
  if call.tool == "write_file" and call.args.deep.list[2] == 2 and call.writes[1] == "/x" and #call.commands == 0 and not call.opaque and not call:runs("x") then
    return mai.deny("seen")
  end
end)`})
	a := guard.Action{Tool: "write_file", Writes: []string{"/x"}, Args: []byte(`{"deep":{"list":[1,2]},"n":null}`)}
	if d := decide(t, s, a); d.Verdict != guard.Deny || d.Args[0] != "seen" {
		t.Errorf("%+v", d)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`return nil`:                                  "allow",
		``:                                            "allow",
		`return mai.deny("no")`:                       "deny lua.denied no",
		`return mai.confirm("sure?")`:                 "confirm lua.confirm sure?",
		`return true`:                                 "deny lua.failed g.lua:2: a pre hook returns",
		`return "deny"`:                               "deny lua.failed g.lua:2",
		`return mai.deny`:                             "deny lua.failed g.lua:2",
		`return {verdict="allow"}`:                    "deny lua.failed g.lua:2",
		`error("broken")`:                             "deny lua.failed g.lua:3: broken",
		`error({})`:                                   "deny lua.failed g.lua:2",
		`return nothing.x`:                            "deny lua.failed g.lua:3",
		`return mai.rewrite{env={}}`:                  "deny lua.failed g.lua:3: mai.rewrite: there is no env",
		`return mai.rewrite{command=""}`:              "deny lua.failed g.lua:3",
		`return mai.rewrite{cwd="x"}`:                 "deny lua.failed g.lua:3",
		`return mai.rewrite{}`:                        "deny lua.failed g.lua:3",
		`mai.pre_exec("late", function() end)`:        "deny lua.failed g.lua:3",
		`mai.allow("x")`:                              "deny lua.failed g.lua:3",
		`require "os"`:                                "deny lua.failed g.lua:3: there is no module",
		`local t = mai.json; t.encode = nil`:          "deny lua.failed g.lua:3: this table is read-only",
		`return mai.rewrite{command="true", cwd="/"}`: "allow rewrite",
	} {
		d := decide(t, mustLoad(t, hook(body)), action("x"))
		got := d.Verdict.String() + " " + d.Reason
		for _, a := range d.Args {
			got += " " + a.(string)
		}
		if d.Rewrite != nil {
			got = d.Verdict.String() + " rewrite"
		}
		got = strings.Replace(got, "failed g g.lua", "failed g.lua", 1)
		if !strings.HasPrefix(strings.TrimSpace(got), want) {
			t.Errorf("%s:\n got %s\nwant %s", body, got, want)
		}
	}
}

func TestLoadIsAllOrNothing(t *testing.T) {
	t.Parallel()
	good := hook("")["g"]
	for name, c := range map[string]struct {
		files  map[string]string
		change func(*Options)
		want   string
	}{
		"syntax":        {files: map[string]string{"a": good, "b": "x = = 1"}, want: "b.lua:1"},
		"at loading":    {files: map[string]string{"b": "\n\nerror('no')"}, want: "b.lua:3: no"},
		"endless":       {files: map[string]string{"b": "while true do end"}, want: "b.lua:1"},
		"failing test":  {files: map[string]string{"g": good, "g_test": `require("maishell").test("t1", function(t) t.equal(t.exec("x").verdict, "deny") end)`}, want: "g_test.lua:1"},
		"no test":       {files: map[string]string{"g": good, "g_test": ``}, want: "g_test.lua"},
		"stray test":    {files: map[string]string{"g": `require("maishell").test("x", function() end)`}, want: "g_test.lua"},
		"same hook":     {files: map[string]string{"a": good, "b": good}, want: "lua.same_hook"},
		"bad name":      {files: map[string]string{"Bad Name": ""}, want: "lua.bad_name"},
		"missing dir":   {change: func(o *Options) { o.Dir += "/gone" }, want: "lua.no_dir"},
		"required":      {change: func(o *Options) { o.Required = []string{"gone"} }, want: "lua.required"},
		"unknown":       {change: func(o *Options) { o.Enable = []string{"gone"} }, want: "lua.unknown"},
		"duplicate":     {files: map[string]string{"secrets": ""}, change: func(o *Options) { o.Enable = []string{"secrets"} }, want: "lua.duplicate"},
		"mask":          {files: map[string]string{"m": `require("maishell").mask("x", "[a-z]+")`}, want: "m.lua:1"},
		"mask pattern":  {files: map[string]string{"m": `require("maishell").mask("x", "abc(")`}, want: "m.lua:1"},
		"time at top":   {files: map[string]string{"m": `local d = require("maishell").time.hour()`}, want: "m.lua:1"},
		"too long":      {files: map[string]string{"m": "--" + strings.Repeat("x", 200_000)}, want: "m.lua:1"},
		"broken lib":    {files: map[string]string{"lib/x": "x ="}, want: "x.lua"},
		"lib of itself": {files: map[string]string{"lib/x": `return require "lib.x"`, "m": `require "lib.x"`}, want: "requires itself"},
	} {
		change := c.change
		if change == nil {
			change = func(*Options) {}
		}
		s, err := load(t, c.files, change)
		var le *LoadError
		if s != nil || !errors.As(err, &le) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if s, err := load(t, map[string]string{"lib/x": `return {n = 4}`, "m": `local mai, x = require "maishell", require "lib.x"
mai.pre_exec("m", function() if require("lib.x").n == x.n then return mai.deny("four") end end)`}); err != nil || decide(t, s, action("x")).Args[0] != "four" {
		t.Error(err)
	}
}

func TestTimeZoneAndClock(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("x", 8*3600)
	at := time.Date(2026, 12, 6, 23, 30, 0, 0, time.UTC) // Monday morning there
	s := mustLoad(t, hook(`return mai.deny(mai.time.weekday() .. " " .. mai.time.hour() .. " " .. mai.time.date() .. " " .. mai.time.unix())`),
		func(o *Options) { o.Location, o.Now = zone, func() time.Time { return at } })
	if d := decide(t, s, action("x")); d.Args[0] != "1 7 2026-12-07 1796599800" {
		t.Errorf("%+v", d)
	}
}

func TestPost(t *testing.T) {
	t.Parallel()
	code := 137
	before := guard.Shown{Stdout: "out secret", Stderr: "err", Status: guard.StatusOK, ExitCode: &code}
	for body, want := range map[string]string{
		`if result.exit_code == 137 then result.note = "oom?" end return result`:        "out secret|err|oom?",
		`result.stdout = result.stdout:gsub("secret", "***")`:                           "out ***|err|",
		`return {stdout = "", stderr = "", note = "x", exit_code = 137, status = "ok"}`: "||x",
		`error("bad")`:                       "g.lua:3: bad",
		`return 1`:                           "g.lua:2",
		`return false`:                       "g.lua:2",
		`result.exit_code = 0 return result`: "cannot change",
		`result.status = "x" return result`:  "cannot change",
		`result.stdot = "x" return result`:   "no field",
		`result.stdout = nil return result`:  "missing",
		`result.stdout = {} return result`:   "not a text",
		`return {}`:                          "missing",
		`while true do end`:                  "ran out of time",
	} {
		s := mustLoad(t, map[string]string{"g": "local mai = require \"maishell\"\nmai.post_exec(\"g\", function(call, result)\n" + body + "\nend)"}, func(o *Options) { o.Timeout = 100 * time.Millisecond })
		if !s.Sees(action("x")) || s.Sees(guard.Action{Tool: "t"}) {
			t.Fatal("Sees is wrong")
		}
		after, err := s.After(t.Context(), action("x"), before)
		got := after.Stdout + "|" + after.Stderr + "|" + after.Note
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && (!strings.Contains(got, want) || after != guard.Shown{}) {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

// What a call adds is part of what it runs.
func TestAddedVariablesAndInput(t *testing.T) {
	t.Parallel()
	s := mustLoad(t, map[string]string{"g": `local mai = require "maishell"
mai.pre_exec("deploys", function(call)
  if call:runs("kubectl", "apply") then return mai.deny("no") end
  if call.env.STAGE == "prod" and call.stdin == "go" then return mai.deny("not there") end
end)`})
	for name, c := range map[string]struct {
		command, input string
		env            []string
		want           guard.Verdict
	}{
		"by a variable":  {"$K apply", "", []string{"K=kubectl"}, guard.Deny},
		"by the input":   {"sh", "kubectl apply", nil, guard.Deny},
		"input as data":  {"cat", "kubectl apply", nil, guard.Allow},
		"seen by name":   {"cat", "go", []string{"A=b", "STAGE=prod"}, guard.Deny},
		"another value":  {"cat", "go", []string{"STAGE=test"}, guard.Allow},
		"no input":       {"cat", "", []string{"STAGE=prod"}, guard.Allow},
		"a shell, maybe": {"true; sh", "ls", nil, guard.Deny},
	} {
		a := action(c.command)
		a.Env, a.Input = c.env, c.input
		if d, err := s.Decide(t.Context(), a); err != nil || d.Verdict != c.want {
			t.Errorf("%s: %v %v", name, d.Verdict, err)
		}
	}
}

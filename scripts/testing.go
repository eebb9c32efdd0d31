package scripts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/redact"
)

// test runs the script's own tests: NAME_test.lua calls mai.test(name, function(t) ... end).
func (s *Set) test(sc *script) error {
	if sc.tests == nil {
		return nil
	}
	names, err := s.testNames(sc)
	if err != nil {
		return loadError("lua.test_failed", err)
	}
	for i, name := range names {
		if err := s.testOne(sc, i); err != nil {
			return loadError("lua.test_failed", fmt.Errorf("%s: %w", name, err))
		}
	}
	sc.passed = len(names)
	return nil
}

// openTests runs the test file.
func (s *Set) openTests(sc *script) (*run, error) {
	now := s.now()
	r := &run{set: s, m: newMachine(), script: sc, subject: sc}
	// A test is about what a script decides, not about how busy the machine is.
	r.env = environment{kv: NewKV(), now: func() time.Time { return now }, limit: max(s.timeout, loadTimeout)}
	if err := r.open(context.Background(), loadTimeout, 0); err != nil {
		return nil, err
	}
	for _, d := range r.defs {
		if d.kind != kindTest {
			return nil, fmt.Errorf("%s: a test file has mai.test only", d.where)
		}
	}
	return r, nil
}

func (s *Set) testNames(sc *script) ([]string, error) {
	r, err := s.openTests(sc)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range r.defs {
		out = append(out, d.name)
	}
	if len(out) == 0 {
		return nil, errors.New(sc.name + "_test.lua: no mai.test in it")
	}
	return out, nil
}

// testOne runs the i-th test in a state of its own, with a clock and a mai.kv of its own.
func (s *Set) testOne(sc *script, i int) error {
	r, err := s.openTests(sc)
	if err != nil {
		return err
	}
	if i >= len(r.defs) {
		return errors.New(sc.name + "_test.lua: defines other tests each time")
	}
	_, err = r.m.Call(r.defs[i].fn, r.m.testing)
	return err
}

// testFunctions are what a test gets: exec, tool, after, mask, at, equal.
func (m *machine) testFunctions() map[string]lua.LValue {
	return map[string]lua.LValue{
		"exec": m.Func(func(l *lua.LState) int { // t.exec(command [, fields])
			return m.tryDecision(l, guard.Action{Tool: "run_command", Command: l.CheckString(1), Shell: "/bin/sh", Cwd: "/", Timeout: time.Minute})
		}),
		"tool": m.Func(func(l *lua.LState) int { // t.tool(name [, fields])
			return m.tryDecision(l, guard.Action{Tool: l.CheckString(1)})
		}),
		"after": m.Func(m.tryAfter), // t.after(command, {stdout=...} [, fields]): the result, or nil and why it is withheld
		"mask": m.Func(func(l *lua.LState) int { // t.mask(text)
			text := l.CheckString(1)
			set, err := redact.New(redact.Options{Patterns: append([]redact.Pattern{}, m.current().subject.masks...)})
			if err != nil {
				l.RaiseError("t.mask: %s", err.Error())
			}
			m.Budget.Charge(l, 4*len(text)+64)
			l.Push(lua.LString(set.String(text)))
			return 1
		}),
		"at": m.Func(func(l *lua.LState) int { // t.at("2006-01-02 15:04"), in the configured zone
			r := m.current()
			at, err := time.ParseInLocation("2006-01-02 15:04", l.CheckString(1), r.set.location)
			if err != nil {
				l.RaiseError("t.at: write the time as 2006-01-02 15:04")
			}
			r.env.now = func() time.Time { return at }
			return 0
		}),
		"equal": m.Func(func(l *lua.LState) int { // t.equal(got, want [, what])
			if got, want := l.CheckAny(1), l.CheckAny(2); !l.Equal(got, want) {
				l.RaiseError("%s: got %q, want %q", l.OptString(3, "not equal"), clip(got.String(), 300), clip(want.String(), 300))
			}
			return 0
		}),
	}
}

// tryDecision asks the tested script's pre hooks.
func (m *machine) tryDecision(l *lua.LState, a guard.Action) int {
	r := m.inHook(l, "t")
	asker := m.given(l, 2, &a)
	var d guard.Decision
	m.Budget.Pause(func() {
		d = r.set.decide(guard.WithAsker(context.Background(), asker), a, []*script{r.subject}, r.env)
	})
	m.Budget.Charge(l, 2000)
	out := l.CreateTable(0, 0)
	out.RawSetString("verdict", lua.LString(d.Verdict.String()))
	out.RawSetString("hook", lua.LString(d.Rule))
	if len(d.Args) > 0 {
		out.RawSetString("why", lua.LString(fmt.Sprint(d.Args[0])))
	}
	if d.Reason == "lua.failed" {
		out.RawSetString("why", lua.LString(fmt.Sprint(d.Args...)))
	}
	if rw := d.Rewrite; rw != nil {
		out.RawSetString("verdict", lua.LString("rewrite"))
		if rw.Command != nil {
			out.RawSetString("command", lua.LString(*rw.Command))
		}
		if rw.Cwd != nil {
			out.RawSetString("cwd", lua.LString(*rw.Cwd))
		}
		if rw.Timeout != nil {
			out.RawSetString("timeout_seconds", lua.LNumber(rw.Timeout.Seconds()))
		}
	}
	l.Push(out)
	return 1
}

// tryAfter asks the tested script's post hooks.
func (m *machine) tryAfter(l *lua.LState) int {
	r := m.inHook(l, "t")
	a := guard.Action{Tool: "run_command", Command: l.CheckString(1), Shell: "/bin/sh", Cwd: "/", Timeout: time.Minute}
	asker := m.given(l, 3, &a)
	t := l.CheckTable(2)
	text := func(name string) string {
		if v, ok := t.RawGetString(name).(lua.LString); ok {
			return string(v)
		}
		return ""
	}
	shown := guard.Shown{Stdout: text("stdout"), Stderr: text("stderr"), Note: text("note"), Text: text("text"), Status: guard.StatusOK}
	if a.Tool != "run_command" {
		a.Command = ""
	}
	if code, ok := t.RawGetString("exit_code").(lua.LNumber); ok {
		n := int(code)
		shown.ExitCode = &n
	}
	var err error
	m.Budget.Pause(func() {
		shown, err = r.set.after(guard.WithAsker(context.Background(), asker), a, shown, []*script{r.subject}, r.env)
	})
	m.Budget.Charge(l, 2000+len(shown.Stdout)+len(shown.Stderr)+len(shown.Text))
	if err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(r.resultTable(shown, a.Command != ""))
	return 1
}

// given puts the fields of a test's call into the action: tool, cwd, shell, input, reads, writes, args, user, group, role.
func (m *machine) given(l *lua.LState, n int, a *guard.Action) guard.Asker {
	asker := guard.Asker{Call: "test", Platform: "test", UserID: "1", Role: "admin", Session: "test"}
	t := l.OptTable(n, nil)
	if t == nil {
		return asker
	}
	t.ForEach(func(k, v lua.LValue) {
		switch name, text := k.String(), v.String(); name {
		case "tool":
			a.Tool = text
		case "id":
			asker.Call = text
		case "cwd":
			a.Cwd = text
		case "shell":
			a.Shell = text
		case "input":
			a.Input = text
		case "env":
			vars, ok := v.(*lua.LTable)
			if !ok {
				l.RaiseError("t: env is a table of texts by name")
			}
			vars.ForEach(func(name, value lua.LValue) { a.Env = append(a.Env, name.String()+"="+value.String()) })
			slices.Sort(a.Env)
		case "user_id":
			asker.UserID = text
		case "group_id":
			asker.GroupID = text
		case "role":
			asker.Role = text
		case "reads", "writes":
			list, ok := v.(*lua.LTable)
			if !ok {
				l.RaiseError("t: %s is a list of paths", name)
			}
			var paths []string
			list.ForEach(func(_, p lua.LValue) { paths = append(paths, p.String()) })
			if name == "reads" {
				a.Reads = paths
			} else {
				a.Writes = paths
			}
		case "args":
			top := l.GetTop()
			l.Push(m.Func(m.jsonEncode))
			l.Push(v)
			l.Call(1, 1)
			a.Args = []byte(l.Get(-1).String())
			l.SetTop(top)
		default:
			l.RaiseError("t: a call has no field %q", clip(name, 50))
		}
	})
	return asker
}

package scripts

import (
	"context"
	"encoding/json"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/policy"
)

// view is one action as hooks see it.
type view struct {
	set    *Set
	action guard.Action
	asker  guard.Asker
	size   int // bytes of the texts that hooks are shown
	parsed bool
	facts  *policy.Analysis // nil: the text cannot be read
}

func newView(s *Set, ctx context.Context, a guard.Action) *view {
	asker, _ := guard.AskerFrom(ctx) // without one the fields are empty: nobody in particular asks
	return &view{set: s, action: a, asker: asker, size: len(a.Command) + len(a.Input) + len(a.Args) + len(strings.Join(a.Env, " "))}
}

// analysis reads the command at the first use; nil when it cannot be read. The time for it is not the script's.
func (r *run) analysis() *policy.Analysis {
	v := r.view
	if !v.parsed {
		v.parsed = true
		r.m.Budget.Pause(func() {
			if v.action.Command == "" || !guard.POSIXShell(v.action.Shell) {
				return
			}
			if facts, err := policy.Parse(policy.Whole(v.action.Command, v.action.Env, v.action.Input), v.set.dialect(v.action.Shell)); err == nil {
				v.facts = facts
			}
		})
	}
	return v.facts
}

func (r *run) callTable() *lua.LTable { return &lua.LTable{Metatable: r.m.call} }

// callField is call.NAME.
func (m *machine) callField(l *lua.LState) int {
	name, r := l.CheckString(2), m.current()
	if r.view == nil {
		l.RaiseError("there is no call now")
	}
	v, ok := r.field(l, name)
	if !ok {
		l.RaiseError("call has no field %q", clip(name, 50))
	}
	l.Push(v)
	return 1
}

func (r *run) field(l *lua.LState, name string) (lua.LValue, bool) {
	a := &r.view.action
	switch name {
	case "runs":
		return r.m.runs, true
	case "id":
		return lua.LString(r.view.asker.Call), true
	case "tool":
		return lua.LString(a.Tool), true
	case "command":
		return lua.LString(a.Command), true
	case "cwd":
		return lua.LString(a.Cwd), true
	case "input", "stdin":
		return lua.LString(a.Input), true
	case "session":
		return lua.LString(r.view.asker.Session), true
	case "timeout_seconds":
		if a.Timeout == 0 {
			return lua.LNil, true
		}
		return lua.LNumber(a.Timeout.Seconds()), true
	case "opaque":
		facts := r.analysis()
		return lua.LBool(a.Command != "" && (facts == nil || facts.Opaque)), true
	case "commands":
		if r.commands == nil {
			r.commands = r.commandList(l)
		}
		return r.commands, true
	case "reads":
		return r.texts(l, a.Reads), true
	case "writes":
		return r.texts(l, a.Writes), true
	case "caller":
		return r.caller(l), true
	case "args":
		return r.args(l), true
	case "host":
		return lua.LString("local"), true
	case "pty", "background", "elevated": // there is no such thing yet, so it is never on
		return lua.LFalse, true
	case "env":
		return r.added(l), true
	}
	return lua.LNil, false
}

// added is call.env: the variables that the call adds, by name.
func (r *run) added(l *lua.LState) lua.LValue {
	fields := map[string]lua.LValue{}
	for _, kv := range r.view.action.Env {
		name, value, _ := strings.Cut(kv, "=")
		fields[name] = lua.LString(value)
	}
	return r.object(l, nil, fields)
}

func (r *run) caller(l *lua.LState) lua.LValue {
	who := r.view.asker
	return r.object(l, nil, map[string]lua.LValue{
		"platform": lua.LString(who.Platform), "user_id": lua.LString(who.UserID), "group_id": lua.LString(who.GroupID),
		"role": lua.LString(who.Role),
	})
}

func (r *run) args(l *lua.LState) lua.LValue {
	raw := r.view.action.Args
	if len(raw) == 0 || !json.Valid(raw) {
		return r.texts(l, nil)
	}
	v, err := r.m.fromJSON(l, string(raw))
	if err != nil {
		l.RaiseError("call.args: %s", err.Error())
	}
	return v
}

// texts makes a list of texts.
func (r *run) texts(l *lua.LState, list []string) *lua.LTable {
	r.m.Budget.Charge(l, 600+40*len(list))
	t := l.CreateTable(0, 0)
	for _, s := range list {
		t.Append(lua.LString(s))
	}
	return t
}

func (r *run) object(l *lua.LState, mt *lua.LTable, fields map[string]lua.LValue) *lua.LTable {
	r.m.Budget.Charge(l, 900+128*len(fields))
	t := l.CreateTable(0, len(fields)+3)
	for name, v := range fields {
		t.RawSetString(name, v)
	}
	if mt != nil {
		t.Metatable = mt
	}
	return t
}

// commandList is call.commands: what the text would run, as far as it shows. It is empty where it cannot be read;
// call.opaque is true then.
func (r *run) commandList(l *lua.LState) *lua.LTable {
	list := l.CreateTable(0, 0)
	facts := r.analysis()
	if facts == nil {
		return list
	}
	for i := range facts.Commands {
		c := &facts.Commands[i]
		args, env, redirects := r.texts(l, nil), r.texts(l, nil), r.texts(l, nil)
		for _, w := range c.Args {
			args.Append(r.word(l, w, nil))
		}
		for _, as := range c.Assigns {
			env.Append(r.word(l, as.Value, map[string]lua.LValue{"name": lua.LString(as.Name), "append": lua.LBool(as.Append)}))
		}
		for _, rd := range c.Redirects {
			redirects.Append(r.word(l, rd.Target, map[string]lua.LValue{
				"op": lua.LString(rd.Op), "fd": lua.LString(rd.FD), "reads": lua.LBool(rd.Reads), "writes": lua.LBool(rd.Writes),
				"body": lua.LString(rd.Body.Text),
			}))
		}
		list.Append(r.object(l, r.m.command, map[string]lua.LValue{
			"program": lua.LString(c.Program.Text), "static": lua.LBool(c.Program.Static), "args": args, "env": env,
			"redirects": redirects, "via": r.texts(l, c.Via),
		}))
	}
	return list
}

// word is {text=, static=, glob=} with more: for assignments the text is the value, for redirections the target.
func (r *run) word(l *lua.LState, w policy.Word, more map[string]lua.LValue) *lua.LTable {
	t := r.object(l, nil, more)
	t.RawSetString("text", lua.LString(w.Text))
	t.RawSetString("static", lua.LBool(w.Static))
	t.RawSetString("glob", lua.LBool(w.Glob))
	return t
}

// commandField is asked for what an entry of call.commands does not have.
func commandField(l *lua.LState) int {
	name := l.CheckString(2)
	if name == "effects" || name == "path" {
		l.RaiseError("%s of a command is not known yet: it comes with the command policy", name)
	}
	l.RaiseError("a command has no field %q; it has program, static, args, env, redirects and via", clip(name, 50))
	return 0
}

// callRuns is call:runs(program, ...): yes when it cannot be ruled out.
func (m *machine) callRuns(l *lua.LState) int {
	r := m.current()
	if t, ok := l.Get(1).(*lua.LTable); !ok || t.Metatable != lua.LValue(m.call) || r.view == nil {
		l.RaiseError("write call:runs(...), with a colon")
	}
	program := l.CheckString(2)
	var args []string
	for i := 3; i <= l.GetTop(); i++ {
		args = append(args, l.CheckString(i))
	}
	facts := r.analysis()
	if facts == nil {
		l.Push(lua.LBool(r.view.action.Command != ""))
		return 1
	}
	m.Budget.Step(l, len(facts.Commands)*(len(args)+1))
	l.Push(lua.LBool(facts.Runs(program, args...)))
	return 1
}

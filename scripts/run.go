package scripts

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/scripts/sandbox"
)

// memory is what one script may make at one call, in bytes, beside four times what it is shown.
const memory = 4 << 20

// machine is a state with the module "maishell".
type machine struct {
	*sandbox.State
	module  *lua.LTable
	testing *lua.LTable
	call    *lua.LTable // metatable of call
	command *lua.LTable // metatable of the entries of call.commands
	runs    *lua.LFunction
}

func newMachine() *machine {
	m := &machine{}
	m.State = sandbox.New(nil)
	m.module = m.Module(m.maishell())
	m.testing = m.Module(m.testFunctions())
	m.Global("require", m.Func(m.require))
	m.call = m.Object(m.callField, "call cannot be changed; return mai.rewrite{...} from a pre hook")
	m.command = m.Object(commandField, "the commands of a call cannot be changed")
	m.runs = m.Func(m.callRuns)
	return m
}

// run is one script at one call.
type run struct {
	set      *Set
	m        *machine
	script   *script
	view     *view // nil: at loading
	env      environment
	top      bool // the file itself runs: it may define, and nothing else
	defs     []def
	masks    []maskDef
	loaded   map[string]lua.LValue
	commands lua.LValue // call.commands, made at the first use
	logged   int
	subject  *script // of a test file: the script that it tests
}

// def is one mai.pre_exec(...) and the like.
type def struct {
	kind, name, where string
	fn                *lua.LFunction
}

// current is the run that a function of the module is called in.
func (m *machine) current() *run {
	r, _ := m.Host.(*run)
	return r
}

// inHook returns the current run, in which a hook must be running.
func (m *machine) inHook(l *lua.LState, what string) *run {
	r := m.current()
	if r.top {
		l.RaiseError("%s works in hooks only, not while the file is read", what)
	}
	return r
}

// open runs the script itself, which defines its hooks.
func (r *run) open(ctx context.Context, limit time.Duration, shown int) error {
	proto := r.script.proto
	if r.subject != nil {
		proto = r.subject.tests
	}
	r.m.Begin(ctx, limit, memory+4*shown)
	r.m.Host, r.top = r, true
	_, err := r.m.Call(r.m.Chunk(proto))
	r.top = false
	return err
}

// define is mai.pre_exec and its like.
func (m *machine) define(kind string) *lua.LFunction {
	return m.Func(func(l *lua.LState) int {
		r := m.current()
		if !r.top {
			l.RaiseError("mai.%s belongs at the top of the file, not in a hook", kind)
		}
		name, fn := l.CheckString(1), l.CheckFunction(2)
		if !validName(name) {
			l.RaiseError("the name of a hook has 1 to 100 characters and no control characters")
		}
		if fn.IsG {
			l.RaiseError("a hook is a function of the script")
		}
		m.Budget.Charge(l, 256)
		r.defs = append(r.defs, def{kind: kind, name: name, where: sandbox.Where(fn), fn: fn})
		return 0
	})
}

func validName(s string) bool {
	return s != "" && len(s) <= 100 && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// require gives the module, or a file of the scripts directory's lib.
func (m *machine) require(l *lua.LState) int {
	name := l.CheckString(1)
	if name == "maishell" {
		l.Push(m.module)
		return 1
	}
	r := m.current()
	proto := r.set.library[name]
	if proto == nil {
		l.RaiseError("there is no module %q: scripts have \"maishell\" and the files of lib in the scripts directory (\"lib.x\")", name)
	}
	v, ok := r.loaded[name]
	if !ok {
		if r.loaded == nil {
			r.loaded = map[string]lua.LValue{}
		}
		r.loaded[name] = lua.LFalse // for a file that requires itself
		m.Budget.Charge(l, 1024)
		l.Push(m.Chunk(proto))
		l.Call(0, 1)
		v = l.Get(-1)
		l.Pop(1)
		r.loaded[name] = v
	}
	if v == lua.LFalse {
		l.RaiseError("the module %q requires itself, or returns false", name)
	}
	l.Push(v)
	return 1
}

// verdict is what mai.deny, mai.confirm and mai.rewrite return.
type verdict struct {
	verdict guard.Verdict
	why     string
	rewrite *guard.Rewrite
}

func wrapped(v *verdict) *lua.LUserData { return &lua.LUserData{Value: v, Metatable: lua.LNil} }

func (m *machine) say(v guard.Verdict) *lua.LFunction {
	return m.Func(func(l *lua.LState) int {
		why := l.OptString(1, "")
		m.Budget.Charge(l, 256)
		l.Push(wrapped(&verdict{verdict: v, why: clip(why, 1000)}))
		return 1
	})
}

// rewrite reads mai.rewrite{command=..., cwd=..., timeout_seconds=...}.
func (m *machine) rewrite(l *lua.LState) int {
	t := l.CheckTable(1)
	rw := &guard.Rewrite{}
	t.ForEach(func(k, v lua.LValue) {
		name := k.String()
		text, isText := v.(lua.LString)
		seconds, isNumber := v.(lua.LNumber)
		switch {
		case name == "command" && isText:
			s := string(text)
			if strings.TrimSpace(s) == "" || strings.IndexByte(s, 0) >= 0 || len(s) > 128_000 {
				l.RaiseError("mai.rewrite: the command is empty, too long or has a NUL")
			}
			rw.Command = &s
		case name == "cwd" && isText:
			s := string(text)
			if !filepath.IsAbs(s) {
				l.RaiseError("mai.rewrite: cwd must be an absolute path")
			}
			rw.Cwd = &s
		case name == "timeout_seconds" && isNumber:
			if !(seconds >= 0.1 && seconds < 1e9) {
				l.RaiseError("mai.rewrite: timeout_seconds is at least 0.1")
			}
			d := time.Duration(float64(seconds) * float64(time.Second))
			rw.Timeout = &d
		case name == "command" || name == "cwd" || name == "timeout_seconds":
			l.RaiseError("mai.rewrite: %s cannot be a %s", name, v.Type())
		default:
			l.RaiseError("mai.rewrite: there is no %s to rewrite; there are command, cwd and timeout_seconds", clip(name, 50))
		}
	})
	if *rw == (guard.Rewrite{}) {
		l.RaiseError("mai.rewrite: nothing to rewrite was given")
	}
	m.Budget.Charge(l, 256)
	l.Push(wrapped(&verdict{verdict: guard.Allow, rewrite: rw}))
	return 1
}

// answer is the decision in what a pre hook returned.
func (r *run) answer(d def, v lua.LValue) (guard.Decision, error) {
	if v == lua.LNil {
		return guard.Decision{Verdict: guard.Allow}, nil
	}
	var said *verdict
	if ud, ok := v.(*lua.LUserData); ok {
		said, _ = ud.Value.(*verdict)
	}
	if said == nil {
		return guard.Decision{}, fmt.Errorf("%s: a pre hook returns mai.deny(why), mai.confirm(why), mai.rewrite{...} or nothing, not a %s", d.where, v.Type())
	}
	out := guard.Decision{Verdict: said.verdict, Rule: rule(d.name)}
	switch {
	case said.rewrite != nil:
		rw := *said.rewrite
		rw.Rule = out.Rule
		out.Rewrite = &rw
	case said.verdict == guard.Deny:
		out.Reason, out.Args = "lua.denied", []any{said.why, d.name}
	default:
		out.Reason, out.Args = "lua.confirm", []any{said.why, d.name}
	}
	return out, nil
}

// clip shortens a text to n bytes of whole characters and makes it valid.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

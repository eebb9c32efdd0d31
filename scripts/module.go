package scripts

import (
	"context"
	"log/slog"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/guard"
)

// What one script may log at one call.
const (
	maxLines = 20
	maxLine  = 1000 // bytes
)

// maishell is the module of that name.
func (m *machine) maishell() map[string]lua.LValue {
	out := map[string]lua.LValue{
		"deny": m.say(guard.Deny), "confirm": m.say(guard.Confirm), "rewrite": m.Func(m.rewrite), "mask": m.Func(m.mask),
		"log": m.Func(m.logLine), "time": m.Module(m.timeFunctions()), "re": m.Module(m.regexpFunctions()),
		"json": m.Module(map[string]lua.LValue{"encode": m.Func(m.jsonEncode), "decode": m.Func(m.jsonDecode)}),
		"kv":   m.Module(m.kvFunctions()), "utf8": m.Module(m.UTF8()),
	}
	for _, kind := range []string{kindPreExec, kindPostExec, kindPreTool, kindPostTool} {
		out[kind] = m.define(kind)
	}
	out[kindTest] = m.define(kindTest)
	return out
}

// timeFunctions tell the time in the zone of [ui] timezone.
func (m *machine) timeFunctions() map[string]lua.LValue {
	out := map[string]lua.LValue{}
	for name, get := range map[string]func(time.Time) lua.LValue{
		"unix": func(t time.Time) lua.LValue { return lua.LNumber(t.Unix()) },
		// Monday is 1, Sunday 7.
		"weekday": func(t time.Time) lua.LValue { return lua.LNumber((int(t.Weekday())+6)%7 + 1) },
		"hour":    func(t time.Time) lua.LValue { return lua.LNumber(t.Hour()) },
		"minute":  func(t time.Time) lua.LValue { return lua.LNumber(t.Minute()) },
		"day":     func(t time.Time) lua.LValue { return lua.LNumber(t.Day()) },
		"month":   func(t time.Time) lua.LValue { return lua.LNumber(t.Month()) },
		"year":    func(t time.Time) lua.LValue { return lua.LNumber(t.Year()) },
		"date":    func(t time.Time) lua.LValue { return lua.LString(t.Format(time.DateOnly)) },
		"iso":     func(t time.Time) lua.LValue { return lua.LString(t.Format(time.RFC3339)) },
	} {
		out[name] = m.Func(func(l *lua.LState) int {
			r := m.inHook(l, "mai.time."+name)
			m.Budget.Charge(l, 64)
			l.Push(get(r.env.now().In(r.set.location)))
			return 1
		})
	}
	return out
}

// logLine is mai.log(text [, level]).
func (m *machine) logLine(l *lua.LState) int {
	r := m.current()
	text, level := l.CheckString(1), l.OptString(2, "info")
	var at slog.Level
	if err := at.UnmarshalText([]byte(level)); err != nil {
		l.RaiseError("mai.log: the level is debug, info, warn or error")
	}
	if r.logged++; r.logged > maxLines {
		return 0
	}
	m.Budget.Charge(l, min(len(text), maxLine))
	r.set.log.Log(context.Background(), at, clip(text, maxLine), "script", r.script.name)
	return 0
}

// maskDef is one mai.mask(name, pattern, shown).
type maskDef struct{ name, expr, shown, where string }

func (m *machine) mask(l *lua.LState) int {
	r := m.current()
	if !r.top {
		l.RaiseError("mai.mask belongs at the top of the file, not in a hook")
	}
	d := maskDef{name: l.CheckString(1), expr: l.CheckString(2), shown: l.OptString(3, "***"), where: place(l)}
	if !validName(d.name) || len(d.expr) > maxExpr || len(d.shown) > 200 {
		l.RaiseError("a mask has a name and a pattern of at most %d bytes, and shows at most 200", maxExpr)
	}
	m.Budget.Charge(l, 512)
	r.masks = append(r.masks, d)
	return 0
}

// place is where the calling line stands, FILE:LINE.
func place(l *lua.LState) string {
	w := l.Where(1)
	for len(w) > 0 && (w[len(w)-1] == ':' || w[len(w)-1] == ' ') {
		w = w[:len(w)-1]
	}
	return w
}

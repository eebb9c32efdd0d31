package sandbox

import (
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (s *State) tableFunctions() map[string]lua.LValue {
	return map[string]lua.LValue{
		"insert": s.Func(s.tableInsert), "remove": s.Func(s.tableRemove), "concat": s.Func(s.tableConcat),
		"sort": s.Func(s.tableSort), "unpack": s.Func(s.unpack),
		"maxn": s.Func(func(l *lua.LState) int { l.Push(lua.LNumber(l.CheckTable(1).MaxN())); return 1 }),
	}
}

func (s *State) tableInsert(l *lua.LState) int {
	t := CheckWritable(l, 1)
	n := t.Len()
	cost := costElement
	if n == 0 {
		cost = costArray
	}
	s.Budget.Charge(l, cost)
	switch l.GetTop() {
	case 2:
		t.RawSetInt(n+1, l.Get(2))
	case 3:
		pos := l.CheckInt(2)
		if pos < 1 || pos > n+1 {
			l.RaiseError("bad argument #2 to insert (position out of bounds)")
		}
		s.Budget.Step(l, (n-pos)>>4)
		t.Insert(pos, l.Get(3))
	default:
		l.RaiseError("wrong number of arguments to insert")
	}
	return 0
}

func (s *State) tableRemove(l *lua.LState) int {
	t := CheckWritable(l, 1)
	n := t.Len()
	pos := l.OptInt(2, n)
	if n == 0 && pos <= 1 {
		l.Push(lua.LNil)
		return 1
	}
	if pos < 1 || pos > n {
		l.RaiseError("bad argument #2 to remove (position out of bounds)")
	}
	s.Budget.Step(l, (n-pos)>>4)
	l.Push(t.Remove(pos))
	return 1
}

func (s *State) tableConcat(l *lua.LState) int {
	t := l.CheckTable(1)
	sep := l.OptString(2, "")
	from, to := l.OptInt(3, 1), l.OptInt(4, t.Len())
	var b strings.Builder
	for i := from; i <= to; i++ {
		v := t.RawGet(lua.LNumber(i))
		switch v.(type) {
		case lua.LString, lua.LNumber:
		default:
			l.RaiseError("invalid value (%s) at index %d in table for concat", v.Type(), i)
		}
		piece := v.String()
		s.Budget.Charge(l, 2*(len(piece)+len(sep))+1) // the builder doubles
		b.WriteString(piece)
		if i < to {
			b.WriteString(sep)
		}
	}
	l.Push(lua.LString(b.String()))
	return 1
}

func (s *State) tableSort(l *lua.LState) int {
	t := CheckWritable(l, 1)
	by := l.OptFunction(2, nil)
	n := t.Len()
	s.Budget.Charge(l, n*costElement)
	values := make([]lua.LValue, n)
	for i := range values {
		values[i] = t.RawGetInt(i + 1)
	}
	sort.Slice(values, func(i, j int) bool {
		s.Budget.Step(l, 8)
		if by == nil {
			return l.LessThan(values[i], values[j])
		}
		l.Push(by)
		l.Push(values[i])
		l.Push(values[j])
		l.Call(2, 1)
		less := lua.LVAsBool(l.Get(-1))
		l.Pop(1)
		return less
	})
	for i, v := range values {
		t.RawSetInt(i+1, v)
	}
	return 0
}

// mathFunctions are those of the library but the ones that draw lots: what a guard decides must not depend on luck.
func (s *State) mathFunctions() map[string]lua.LValue {
	l := s.L
	l.Push(l.NewFunction(lua.OpenMath))
	l.Call(0, 1)
	t := l.CheckTable(-1)
	l.Pop(1)
	// It is registered too, from where nobody takes it.
	l.G.Global.RawSetString("math", lua.LNil)
	l.G.Registry = &lua.LTable{Metatable: lua.LNil}
	out := map[string]lua.LValue{}
	t.ForEach(func(k, v lua.LValue) {
		if name := k.String(); name != "random" && name != "randomseed" {
			out[name] = v
		}
	})
	return out
}

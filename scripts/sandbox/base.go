package sandbox

import (
	"errors"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxUnpack is the most values that a table is spread into.
const maxUnpack = 200

func (s *State) addPrices() {
	s.Global(fnConcat, s.Func(s.concat))
	s.Global(fnSet, s.Func(s.set))
	s.Global(fnKey, s.Func(s.key))
	s.Global(fnTable, s.Func(func(l *lua.LState) int {
		t, ok := l.Get(1).(*lua.LTable)
		if !ok {
			return 0
		}
		s.Budget.Charge(l, int(lua.LVAsNumber(l.Get(2)))+t.Len()*costElement)
		l.SetTop(1)
		return 1
	}))
	s.Global(fnClosure, s.Func(func(l *lua.LState) int {
		s.Budget.Charge(l, costClosure)
		return l.GetTop()
	}))
}

// concat is the operator "..".
func (s *State) concat(l *lua.LState) int {
	n := l.GetTop()
	size := costString
	for i := 1; i <= n; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			size += len(v)
		case lua.LNumber:
			size += costString
		default:
			l.RaiseError("attempt to concatenate a %s value", v.Type())
		}
	}
	s.Budget.Charge(l, size)
	var b strings.Builder
	b.Grow(size)
	for i := 1; i <= n; i++ {
		b.WriteString(l.Get(i).String())
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// set is the assignment to a field.
func (s *State) set(l *lua.LState) int {
	object, key, value := l.Get(1), l.Get(2), l.Get(3)
	t, ok := object.(*lua.LTable)
	if !ok {
		l.RaiseError("attempt to index a %s value", object.Type())
	}
	s.payForKey(l, t, key)
	if t.Metatable == lua.LNil || t.Metatable == nil {
		t.RawSet(key, value)
		return 0
	}
	l.SetTable(t, key, value)
	return 0
}

// payForKey charges what a new key in t costs.
func (s *State) payForKey(l *lua.LState, t *lua.LTable, key lua.LValue) {
	switch k := key.(type) {
	case lua.LNumber:
		f := float64(k)
		if math.IsNaN(f) {
			l.RaiseError("table index is NaN")
		}
		if f >= 1 && f == math.Trunc(f) && f < float64(lua.MaxArrayIndex) {
			n := t.Len()
			switch {
			case int(f) <= n:
			case n == 0:
				s.Budget.Charge(l, costArray+int(f)*costElement)
			default:
				s.Budget.Charge(l, (int(f)-n)*costElement)
			}
			return
		}
	case *lua.LNilType:
		l.RaiseError("table index is nil")
	}
	if t.RawGet(key) == lua.LNil {
		cost := costField
		if k, _ := t.Next(lua.LNil); k == lua.LNil {
			cost = costMap
		}
		s.Budget.Charge(l, cost)
	}
}

// key is the key of a field in a table constructor.
func (s *State) key(l *lua.LState) int {
	switch k := l.Get(1).(type) {
	case lua.LNumber:
		if k >= 1 && float64(k) < float64(lua.MaxArrayIndex) {
			s.Budget.Charge(l, costArray+int(k)*costElement)
		}
		if math.IsNaN(float64(k)) {
			l.RaiseError("table index is NaN")
		}
	case *lua.LNilType:
		l.RaiseError("table index is nil")
	}
	l.SetTop(1)
	return 1
}

func (s *State) addBase() {
	next := s.Func(baseNext)
	step := s.Func(func(l *lua.LState) int {
		i := l.CheckInt(2) + 1
		v := l.GetTable(l.CheckTable(1), lua.LNumber(i))
		if v == lua.LNil {
			return 0
		}
		l.Push(lua.LNumber(i))
		l.Push(v)
		return 2
	})
	for name, fn := range map[string]lua.LGFunction{
		"assert": baseAssert, "error": baseError, "getmetatable": baseGetMetatable, "next": baseNext, "pcall": s.pcall,
		"rawequal": func(l *lua.LState) int { l.Push(lua.LBool(l.RawEqual(l.CheckAny(1), l.CheckAny(2)))); return 1 },
		"rawget":   func(l *lua.LState) int { l.Push(l.CheckTable(1).RawGet(l.CheckAny(2))); return 1 },
		"rawset": func(l *lua.LState) int {
			t := CheckWritable(l, 1)
			s.payForKey(l, t, l.CheckAny(2))
			t.RawSet(l.Get(2), l.CheckAny(3))
			l.SetTop(1)
			return 1
		},
		"select": baseSelect, "setmetatable": baseSetMetatable, "tonumber": baseToNumber, "tostring": s.tostring,
		"type":   func(l *lua.LState) int { l.Push(lua.LString(l.CheckAny(1).Type().String())); return 1 },
		"unpack": s.unpack,
		"pairs": func(l *lua.LState) int {
			t := l.CheckTable(1)
			l.Push(next)
			l.Push(t)
			l.Push(lua.LNil)
			return 3
		},
		"ipairs": func(l *lua.LState) int {
			t := l.CheckTable(1)
			l.Push(step)
			l.Push(t)
			l.Push(lua.LNumber(0))
			return 3
		},
	} {
		s.Global(name, s.Func(fn))
	}
}

func baseNext(l *lua.LState) int {
	k, v := l.CheckTable(1).Next(l.Get(2))
	if k == lua.LNil {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(k)
	l.Push(v)
	return 2
}

func baseAssert(l *lua.LState) int {
	if !l.ToBool(1) {
		l.CheckAny(1)
		l.RaiseError("%s", l.OptString(2, "assertion failed!"))
	}
	return l.GetTop()
}

func baseError(l *lua.LState) int {
	l.Error(l.CheckAny(1), l.OptInt(2, 1))
	return 0
}

func baseGetMetatable(l *lua.LState) int {
	t, ok := l.CheckAny(1).(*lua.LTable)
	if !ok {
		l.Push(lua.LNil) // nothing to see of strings and functions
		return 1
	}
	if isGuarded(t) {
		l.Push(t.Metatable.(*lua.LTable).RawGetString("__metatable"))
		return 1
	}
	if t.Metatable == nil {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(t.Metatable)
	return 1
}

func baseSetMetatable(l *lua.LState) int {
	t := CheckWritable(l, 1)
	switch mt := l.Get(2).(type) {
	case *lua.LTable:
		t.Metatable = mt
	case *lua.LNilType:
		t.Metatable = lua.LNil
	default:
		l.RaiseError("a metatable is a table or nil, not a %s", mt.Type())
	}
	l.SetTop(1)
	return 1
}

func baseSelect(l *lua.LState) int {
	if s, ok := l.Get(1).(lua.LString); ok && s == "#" {
		l.Push(lua.LNumber(l.GetTop() - 1))
		return 1
	}
	n := l.CheckInt(1)
	top := l.GetTop()
	switch {
	case n < 0:
		n = top + n
		if n < 1 {
			l.RaiseError("bad argument #1 to select (index out of range)")
		}
		return top - n
	case n == 0:
		l.RaiseError("bad argument #1 to select (index out of range)")
	case n >= top:
		return 0
	}
	return top - n
}

func baseToNumber(l *lua.LState) int {
	base := l.OptInt(2, 10)
	if base < 2 || base > 36 {
		l.RaiseError("bad argument #2 to tonumber (base out of range)")
	}
	switch v := l.CheckAny(1).(type) {
	case lua.LNumber:
		l.Push(v)
		return 1
	case lua.LString:
		text := strings.TrimSpace(string(v))
		if len(text) > 400 {
			break
		}
		if base != 10 {
			if n, err := strconv.ParseInt(text, base, 64); err == nil {
				l.Push(lua.LNumber(n))
				return 1
			}
			break
		}
		if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
			if n, err := strconv.ParseUint(hex, 16, 64); err == nil {
				l.Push(lua.LNumber(n))
				return 1
			}
			break
		}
		if strings.ContainsAny(text, "_nNiIxXpP") { // Go's own spellings, NaN and infinities
			break
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			l.Push(lua.LNumber(f))
			return 1
		}
	}
	l.Push(lua.LNil)
	return 1
}

func (s *State) tostring(l *lua.LState) int {
	v := l.ToStringMeta(l.CheckAny(1))
	s.Budget.Charge(l, costString)
	l.Push(v)
	return 1
}

func (s *State) unpack(l *lua.LState) int {
	t := l.CheckTable(1)
	from, to := l.OptInt(2, 1), l.OptInt(3, t.Len())
	if to >= from && (to-from >= maxUnpack || to-from < 0) {
		l.RaiseError("too many values to unpack, at most %d", maxUnpack)
	}
	n := 0
	for i := from; i <= to; i++ {
		l.Push(t.RawGet(lua.LNumber(i)))
		n++
	}
	return n
}

// pcall catches what a script raises, but not the end of its budget, nor what should not happen.
func (s *State) pcall(l *lua.LState) int {
	l.CheckAny(1)
	err := l.PCall(l.GetTop()-1, lua.MultRet, nil)
	if err == nil {
		l.Insert(lua.LTrue, 1)
		return l.GetTop()
	}
	if s.Budget.err != nil {
		l.RaiseError("%s", s.Budget.err.Error())
	}
	api, ok := errors.AsType[*lua.ApiError](err)
	if !ok || api.Type == lua.ApiErrorPanic {
		l.RaiseError("internal error: %v", err)
	}
	l.SetTop(0)
	l.Push(lua.LFalse)
	if api.Object == nil {
		l.Push(lua.LString(err.Error()))
	} else {
		l.Push(api.Object)
	}
	return 2
}

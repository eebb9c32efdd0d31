package sandbox

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// addStrings adds the module string and makes it the strings' own methods.
func (s *State) addStrings() {
	fns := map[string]lua.LValue{}
	for name, fn := range map[string]lua.LGFunction{
		"byte": s.strByte, "char": s.strChar, "find": s.strFind, "format": s.strFormat, "gmatch": s.strGmatch,
		"gsub": s.strGsub, "len": func(l *lua.LState) int { l.Push(lua.LNumber(len(l.CheckString(1)))); return 1 },
		"lower": s.strMap(strings.ToLower), "match": s.strMatch, "rep": s.strRep, "reverse": s.strMap(reverse),
		"sub": s.strSub, "upper": s.strMap(strings.ToUpper),
	} {
		fns[name] = s.Func(fn)
	}
	module := s.Module(fns)
	s.Global("string", module)
	mt := s.L.CreateTable(0, 1)
	mt.RawSetString("__index", module)
	s.L.SetMetatable(lua.LString(""), mt)
}

func (s *State) strMap(fn func(string) string) lua.LGFunction {
	return func(l *lua.LState) int {
		text := l.CheckString(1)
		s.Budget.Charge(l, 2*len(text)+costString) // some characters grow
		s.Budget.Step(l, len(text)>>2)
		l.Push(lua.LString(fn(text)))
		return 1
	}
}

func reverse(text string) string {
	out := make([]byte, len(text))
	for i := range len(text) {
		out[len(text)-1-i] = text[i]
	}
	return string(out)
}

// span reads the positions at arguments 2 and 3 as a range of bytes.
func span(l *lua.LState, n, from, to int) (int, int) {
	from, to = place(from, n), place(to, n)
	from, to = max(from, 1), min(to, n)
	if from > to {
		return 0, 0
	}
	return from - 1, to
}

func (s *State) strByte(l *lua.LState) int {
	text := l.CheckString(1)
	first := l.OptInt(2, 1)
	from, to := span(l, len(text), first, l.OptInt(3, first))
	if to-from > maxUnpack {
		l.RaiseError("string slice too long, at most %d bytes", maxUnpack)
	}
	for i := from; i < to; i++ {
		l.Push(lua.LNumber(text[i]))
	}
	return to - from
}

func (s *State) strChar(l *lua.LState) int {
	out := make([]byte, l.GetTop())
	for i := range out {
		n := l.CheckInt(i + 1)
		if n < 0 || n > 255 {
			l.RaiseError("bad argument #%d to char (value out of range)", i+1)
		}
		out[i] = byte(n)
	}
	s.Budget.Charge(l, len(out)+costString)
	l.Push(lua.LString(out))
	return 1
}

func (s *State) strSub(l *lua.LState) int {
	text := l.CheckString(1)
	from, to := span(l, len(text), l.CheckInt(2), l.OptInt(3, -1))
	s.Budget.Charge(l, costString)
	l.Push(lua.LString(text[from:to]))
	return 1
}

func (s *State) strRep(l *lua.LState) int {
	text, n, sep := l.CheckString(1), l.CheckInt(2), l.OptString(3, "")
	if n <= 0 || len(text)+len(sep) == 0 {
		l.Push(lua.LString(""))
		return 1
	}
	size := len(text) + len(sep)
	if n > s.Budget.memory/size+1 {
		s.Budget.Charge(l, s.Budget.memory+1)
	}
	s.Budget.Charge(l, size*n+costString)
	l.Push(lua.LString(strings.Repeat(text+sep, n-1) + text))
	return 1
}

func (s *State) matcher(l *lua.LState, src, pat string) *matcher {
	return &matcher{l: l, b: s.Budget, src: src, pat: pat}
}

func (s *State) strFind(l *lua.LState) int  { return s.find(l, true) }
func (s *State) strMatch(l *lua.LState) int { return s.find(l, false) }

func (s *State) find(l *lua.LState, positions bool) int {
	src, pat := l.CheckString(1), l.CheckString(2)
	from := max(place(l.OptInt(3, 1), len(src)), 1) - 1
	if from > len(src) {
		l.Push(lua.LNil)
		return 1
	}
	if positions && (l.ToBool(4) || !strings.ContainsAny(pat, "^$*+?.([%-")) {
		s.Budget.Step(l, (len(src)-from)>>3)
		i := strings.Index(src[from:], pat)
		if i < 0 {
			l.Push(lua.LNil)
			return 1
		}
		l.Push(lua.LNumber(from + i + 1))
		l.Push(lua.LNumber(from + i + len(pat)))
		return 2
	}
	m := s.matcher(l, src, pat)
	begin, end := m.search(from)
	if end < 0 {
		l.Push(lua.LNil)
		return 1
	}
	if !positions {
		return m.pushCaptures(begin, end, true)
	}
	l.Push(lua.LNumber(begin + 1))
	l.Push(lua.LNumber(end))
	return 2 + m.pushCaptures(begin, end, false)
}

// search finds the first match from byte s on; its end is -1 when there is none.
func (m *matcher) search(s int) (begin, end int) {
	p, anchored := 0, strings.HasPrefix(m.pat, "^")
	if anchored {
		p = 1
	}
	for ; s <= len(m.src); s++ {
		m.level = 0
		if e := m.match(s, p); e >= 0 {
			return s, e
		}
		if anchored {
			break
		}
	}
	return 0, -1
}

func (s *State) strGmatch(l *lua.LState) int {
	src, pat := l.CheckString(1), l.CheckString(2)
	s.Budget.Charge(l, costClosure)
	at, last := 0, -1
	l.Push(l.NewFunction(func(l *lua.LState) int {
		m := s.matcher(l, src, pat)
		for ; at <= len(src); at++ {
			m.level = 0
			if e := m.match(at, 0); e >= 0 && e != last {
				begin := at
				at, last = e, e
				return m.pushCaptures(begin, e, true)
			}
		}
		return 0
	}))
	return 1
}

func (s *State) strGsub(l *lua.LState) int {
	src, pat := l.CheckString(1), l.CheckString(2)
	repl := l.CheckAny(3)
	switch repl.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		l.RaiseError("bad argument #3 to gsub (string, number, table or function expected, got %s)", repl.Type())
	}
	most := l.OptInt(4, len(src)+1)
	p, anchored := 0, strings.HasPrefix(pat, "^")
	if anchored {
		p = 1
	}
	m := s.matcher(l, src, pat)
	var out strings.Builder
	add := func(piece string) {
		s.Budget.Charge(l, 2*len(piece)) // the builder doubles
		out.WriteString(piece)
	}
	at, done, count := 0, 0, 0
	for count < most {
		m.level = 0
		e := m.match(at, p)
		if e >= 0 {
			count++
			add(src[done:at])
			add(s.replacement(m, repl, at, e))
			done = e
		}
		switch {
		case e > at:
			at = e
		case at < len(src):
			at++
		default:
			at = len(src) + 1
		}
		if at > len(src) || anchored {
			break
		}
	}
	add(src[min(done, len(src)):])
	s.Budget.Charge(l, costString)
	l.Push(lua.LString(out.String()))
	l.Push(lua.LNumber(count))
	return 2
}

// replacement is what is put in place of the match from b to e.
func (s *State) replacement(m *matcher, repl lua.LValue, b, e int) string {
	l := m.l
	var v lua.LValue
	switch r := repl.(type) {
	case *lua.LTable:
		v = l.GetTable(r, m.capture(0, b, e))
	case *lua.LFunction:
		l.Push(r)
		n := m.pushCaptures(b, e, true)
		l.Call(n, 1)
		v = l.Get(-1)
		l.Pop(1)
	default:
		return s.template(m, r.String(), b, e)
	}
	switch v := v.(type) {
	case lua.LString, lua.LNumber:
		return v.String()
	}
	if lua.LVAsBool(v) {
		l.RaiseError("invalid replacement value (a %s)", v.Type())
	}
	return m.src[b:e]
}

// template puts captures into a replacement text.
func (s *State) template(m *matcher, text string, b, e int) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			out.WriteByte(text[i])
			s.Budget.Charge(m.l, 2)
			continue
		}
		i++
		switch {
		case i < len(text) && digit(text[i]):
			piece := m.src[b:e]
			if text[i] != '0' {
				piece = m.capture(int(text[i]-'1'), b, e).String()
			}
			s.Budget.Charge(m.l, 2*len(piece))
			out.WriteString(piece)
		case i < len(text) && text[i] == '%':
			out.WriteByte('%')
		default:
			m.l.RaiseError("invalid use of '%%' in replacement string")
		}
	}
	return out.String()
}

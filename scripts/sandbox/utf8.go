package sandbox

import (
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// utf8Functions are those of Lua 5.3 and two of ours: sub cuts by characters, valid checks.
// UTF8 is the module utf8, for a module that offers it under its own name.
func (s *State) UTF8() map[string]lua.LValue { return s.utf8Functions() }

func (s *State) utf8Functions() map[string]lua.LValue {
	return map[string]lua.LValue{
		"charpattern": lua.LString("[%z\x01-\x7F\xC2-\xF4][\x80-\xBF]*"),
		"char":        s.Func(s.utf8Char), "codepoint": s.Func(s.utf8Codepoint), "len": s.Func(s.utf8Len),
		"codes": s.Func(s.utf8Codes), "offset": s.Func(s.utf8Offset), "sub": s.Func(s.utf8Sub),
		"valid": s.Func(func(l *lua.LState) int {
			text := l.CheckString(1)
			s.Budget.Step(l, len(text)>>4)
			l.Push(lua.LBool(utf8.ValidString(text)))
			return 1
		}),
	}
}

func (s *State) utf8Char(l *lua.LState) int {
	var out []byte
	for i := 1; i <= l.GetTop(); i++ {
		n := l.CheckInt(i)
		if n < 0 || n > utf8.MaxRune {
			l.RaiseError("bad argument #%d to char (value out of range)", i)
		}
		out = utf8.AppendRune(out, rune(n))
	}
	s.Budget.Charge(l, len(out)+costString)
	l.Push(lua.LString(out))
	return 1
}

func (s *State) utf8Codepoint(l *lua.LState) int {
	text := l.CheckString(1)
	from := place(l.OptInt(2, 1), len(text))
	to := place(l.OptInt(3, from), len(text))
	if from < 1 || to > len(text) {
		l.RaiseError("bad argument to codepoint (out of range)")
	}
	n := 0
	for i := from - 1; i < to; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			l.RaiseError("invalid UTF-8 code")
		}
		if n++; n > maxUnpack {
			l.RaiseError("string slice too long, at most %d characters", maxUnpack)
		}
		l.Push(lua.LNumber(r))
		i += size
	}
	return n
}

func (s *State) utf8Len(l *lua.LState) int {
	text := l.CheckString(1)
	from := place(l.OptInt(2, 1), len(text))
	to := place(l.OptInt(3, -1), len(text))
	n := 0
	for i := max(from-1, 0); i < min(to, len(text)); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			l.Push(lua.LNil)
			l.Push(lua.LNumber(i + 1))
			return 2
		}
		s.Budget.Step(l, 1)
		i += size
		n++
	}
	l.Push(lua.LNumber(n))
	return 1
}

func (s *State) utf8Codes(l *lua.LState) int {
	text := l.CheckString(1)
	s.Budget.Charge(l, costClosure)
	l.Push(l.NewFunction(func(l *lua.LState) int {
		i := l.OptInt(2, 0) - 1
		if i >= 0 && i < len(text) {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		} else {
			i = max(i, 0)
		}
		if i >= len(text) {
			return 0
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			l.RaiseError("invalid UTF-8 code")
		}
		l.Push(lua.LNumber(i + 1))
		l.Push(lua.LNumber(r))
		return 2
	}))
	l.Push(lua.LString(text))
	l.Push(lua.LNumber(0))
	return 3
}

// utf8Offset is the byte at which the n-th character from byte i begins.
func (s *State) utf8Offset(l *lua.LState) int {
	text, n := l.CheckString(1), l.CheckInt(2)
	begin := 1
	if n <= 0 {
		begin = len(text) + 1
	}
	i := place(l.OptInt(3, begin), len(text)) - 1
	if i < 0 || i > len(text) {
		l.RaiseError("bad argument #3 to offset (position out of range)")
	}
	inside := func(i int) bool { return i < len(text) && !utf8.RuneStart(text[i]) }
	if n == 0 {
		for i > 0 && inside(i) {
			i--
		}
		l.Push(lua.LNumber(i + 1))
		return 1
	}
	if inside(i) {
		l.RaiseError("initial position is a continuation byte")
	}
	for ; n < 0 && i > 0; n++ {
		s.Budget.Step(l, 1)
		for i--; i > 0 && inside(i); i-- {
			continue
		}
	}
	for n--; n > 0 && i < len(text); n-- {
		s.Budget.Step(l, 1)
		for i++; inside(i); i++ {
			continue
		}
	}
	if n == 0 || n == -1 {
		l.Push(lua.LNumber(i + 1))
	} else {
		l.Push(lua.LNil)
	}
	return 1
}

// utf8Sub is string.sub by characters; bytes that are no UTF-8 count as one character each.
func (s *State) utf8Sub(l *lua.LState) int {
	text := l.CheckString(1)
	s.Budget.Step(l, len(text)>>2)
	n := utf8.RuneCountInString(text)
	from, to := place(l.CheckInt(2), n), place(l.OptInt(3, -1), n)
	from, to = max(from, 1), min(to, n)
	if from > to {
		l.Push(lua.LString(""))
		return 1
	}
	begin := skipRunes(text, from-1)
	end := begin + skipRunes(text[begin:], to-from+1)
	l.Push(lua.LString(text[begin:end]))
	return 1
}

func skipRunes(text string, n int) int {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return i
}

// place turns a position that may count from the end into one from 1.
func place(i, n int) int {
	if i < 0 {
		return n + i + 1
	}
	return i
}

package sandbox

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// strFormat is string.format with the conversions d i u c x X o e E f g G q s and %, widths and precisions to 99.
func (s *State) strFormat(l *lua.LState) int {
	format := l.CheckString(1)
	var out strings.Builder
	arg := 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			s.Budget.Charge(l, 2)
			continue
		}
		if i+1 < len(format) && format[i+1] == '%' {
			out.WriteByte('%')
			i++
			continue
		}
		end := specEnd(format, i+1)
		if end < 0 {
			l.RaiseError("invalid option in format string %q", clip(format[i:]))
		}
		arg++
		piece := s.conversion(l, format[i:end], format[end], arg)
		s.Budget.Charge(l, 2*len(piece))
		out.WriteString(piece)
		i = end
	}
	s.Budget.Charge(l, costString)
	l.Push(lua.LString(out.String()))
	return 1
}

func clip(text string) string { return text[:min(len(text), 20)] }

// specEnd is where the letter of a conversion stands whose flags begin at i; -1 when it is none.
func specEnd(format string, i int) int {
	begin := i
	for i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0 {
		i++
	}
	if i-begin > 5 {
		return -1
	}
	digits := func() bool {
		from := i
		for i < len(format) && digit(format[i]) {
			i++
		}
		return i-from <= 2
	}
	if !digits() {
		return -1
	}
	if i < len(format) && format[i] == '.' {
		i++
		if !digits() {
			return -1
		}
	}
	if i >= len(format) || strings.IndexByte("diucxXoeEfgGqs", format[i]) < 0 {
		return -1
	}
	return i
}

func (s *State) conversion(l *lua.LState, spec string, letter byte, arg int) string {
	switch letter {
	case 'd', 'i', 'u':
		return fmt.Sprintf(spec+"d", integer(l, arg))
	case 'x', 'X', 'o':
		return fmt.Sprintf(spec+string(letter), integer(l, arg))
	case 'c':
		return string([]byte{byte(integer(l, arg))})
	case 'e', 'E', 'f', 'g', 'G':
		return fmt.Sprintf(spec+string(letter), float64(l.CheckNumber(arg)))
	case 'q':
		text := l.CheckString(arg)
		s.Budget.Charge(l, 4*len(text))
		return quoted(text)
	}
	text := l.ToStringMeta(l.CheckAny(arg)).String()
	if spec == "%" {
		return text
	}
	s.Budget.Charge(l, len(text))
	return fmt.Sprintf(spec+"s", text)
}

func integer(l *lua.LState, arg int) int64 {
	f := float64(l.CheckNumber(arg))
	if math.IsNaN(f) || math.Abs(f) >= 1<<63 {
		l.RaiseError("bad argument #%d to format (number has no integer representation)", arg)
	}
	return int64(f)
}

// quoted writes a text as Lua reads it.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '\n':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\r' || c == 0:
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package sandbox

import (
	lua "github.com/yuin/gopher-lua"
)

const (
	maxCaptures = 32
	maxMatch    = 200 // nested choices of one match
	capOpen     = -1  // a capture that is not closed yet
	capPosition = -2
)

// matcher matches one Lua pattern against one text, paying for every step.
type matcher struct {
	l        *lua.LState
	b        *Budget
	src, pat string
	depth    int
	level    int
	captures [maxCaptures]struct{ from, size int }
}

func (m *matcher) fail(msg string) { m.l.RaiseError("malformed pattern (%s)", msg) }

// match returns the end of the match of pat[p:] at src[s:], or -1.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatch {
		m.l.RaiseError("pattern too complex")
	}
	defer func() { m.depth-- }()
	for {
		m.b.Step(m.l, 1)
		if p == len(m.pat) {
			return s
		}
		switch m.pat[p] {
		case '(':
			if p+1 < len(m.pat) && m.pat[p+1] == ')' {
				return m.open(s, p+2, capPosition)
			}
			return m.open(s, p+1, capOpen)
		case ')':
			return m.closes(s, p+1)
		case '$':
			if p+1 == len(m.pat) {
				if s == len(m.src) {
					return s
				}
				return -1
			}
		case '%':
			if p+1 < len(m.pat) {
				done, next, after := m.special(s, p)
				if done {
					if next < 0 {
						return -1
					}
					s, p = next, after
					continue
				}
			}
		}
		end := m.classEnd(p)
		var follow byte
		if end < len(m.pat) {
			follow = m.pat[end]
		}
		switch follow {
		case '?':
			if m.single(s, p, end) {
				if r := m.match(s+1, end+1); r >= 0 {
					return r
				}
			}
			p = end + 1
		case '+':
			if !m.single(s, p, end) {
				return -1
			}
			return m.most(s+1, p, end)
		case '*':
			return m.most(s, p, end)
		case '-':
			return m.least(s, p, end)
		default:
			if !m.single(s, p, end) {
				return -1
			}
			s, p = s+1, end
		}
	}
}

// special handles %b, %f and back references; done is false for an ordinary class.
func (m *matcher) special(s, p int) (done bool, next, after int) {
	switch c := m.pat[p+1]; {
	case c == 'b':
		return true, m.balance(s, p+2), p + 4
	case c == 'f':
		p += 2
		if p >= len(m.pat) || m.pat[p] != '[' {
			m.fail("missing '[' after '%f'")
		}
		end := m.classEnd(p)
		var before, here byte
		if s > 0 {
			before = m.src[s-1]
		}
		if s < len(m.src) {
			here = m.src[s]
		}
		if !m.set(before, p, end-1) && m.set(here, p, end-1) {
			return true, s, end
		}
		return true, -1, 0
	case c >= '0' && c <= '9':
		i := int(c - '1')
		if i < 0 || i >= m.level || m.captures[i].size == capOpen {
			m.l.RaiseError("invalid capture index %%%d", i+1)
		}
		size := max(m.captures[i].size, 0)
		from := m.captures[i].from
		m.b.Step(m.l, size>>4)
		if len(m.src)-s >= size && m.src[from:from+size] == m.src[s:s+size] {
			return true, s + size, p + 2
		}
		return true, -1, 0
	}
	return false, 0, 0
}

func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		m.fail("missing arguments to '%b'")
	}
	if s >= len(m.src) || m.src[s] != m.pat[p] {
		return -1
	}
	open, shut, depth := m.pat[p], m.pat[p+1], 1
	for i := s + 1; i < len(m.src); i++ {
		m.b.Step(m.l, 1)
		switch c := m.src[i]; {
		case c == shut:
			if depth--; depth == 0 {
				return i + 1
			}
		case c == open:
			depth++
		}
	}
	return -1
}

func (m *matcher) most(s, p, end int) int {
	n := 0
	for m.single(s+n, p, end) {
		m.b.Step(m.l, 1)
		n++
	}
	for ; n >= 0; n-- {
		if r := m.match(s+n, end+1); r >= 0 {
			return r
		}
	}
	return -1
}

func (m *matcher) least(s, p, end int) int {
	for {
		if r := m.match(s, end+1); r >= 0 {
			return r
		}
		if !m.single(s, p, end) {
			return -1
		}
		s++
	}
}

func (m *matcher) open(s, p, what int) int {
	if m.level >= maxCaptures {
		m.l.RaiseError("too many captures")
	}
	m.captures[m.level].from, m.captures[m.level].size = s, what
	m.level++
	r := m.match(s, p)
	if r < 0 {
		m.level--
	}
	return r
}

func (m *matcher) closes(s, p int) int {
	i := m.level - 1
	for i >= 0 && m.captures[i].size != capOpen {
		i--
	}
	if i < 0 {
		m.l.RaiseError("invalid pattern capture")
	}
	m.captures[i].size = s - m.captures[i].from
	r := m.match(s, p)
	if r < 0 {
		m.captures[i].size = capOpen
	}
	return r
}

// classEnd is the end of the single character class at p.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pat) {
			m.fail("ends with '%'")
		}
		return p + 1
	case '[':
		if p < len(m.pat) && m.pat[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pat) || m.pat[p] != ']'; first = false {
			if p >= len(m.pat) {
				m.fail("missing ']'")
			}
			if m.pat[p] == '%' {
				p++
			}
			p++
		}
		return p + 1
	}
	return p
}

func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.src) {
		return false
	}
	c := m.src[s]
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return class(c, m.pat[p+1])
	case '[':
		return m.set(c, p, end-1)
	}
	return m.pat[p] == c
}

// set matches c against the set from pat[p] = '[' to pat[end] = ']'.
func (m *matcher) set(c byte, p, end int) bool {
	m.b.Step(m.l, (end-p)>>3)
	want := true
	p++
	if p < end && m.pat[p] == '^' {
		want = false
		p++
	}
	for ; p < end; p++ {
		switch {
		case m.pat[p] == '%' && p+1 < end:
			p++
			if class(c, m.pat[p]) {
				return want
			}
		case p+2 < end && m.pat[p+1] == '-':
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return want
			}
			p += 2
		case m.pat[p] == c:
			return want
		}
	}
	return !want
}

// class matches c against %a, %d ...; an upper-case letter is the opposite, anything else stands for itself.
func class(c, cl byte) bool {
	var is bool
	switch cl | 0x20 {
	case 'a':
		is = letter(c)
	case 'c':
		is = c < 0x20 || c == 0x7f
	case 'd':
		is = digit(c)
	case 'g':
		is = c > 0x20 && c < 0x7f
	case 'l':
		is = c >= 'a' && c <= 'z'
	case 'p':
		is = c > 0x20 && c < 0x7f && !letter(c) && !digit(c)
	case 's':
		is = c == ' ' || c >= '\t' && c <= '\r'
	case 'u':
		is = c >= 'A' && c <= 'Z'
	case 'w':
		is = letter(c) || digit(c)
	case 'x':
		is = digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
	case 'z':
		is = c == 0
	default:
		return cl == c
	}
	return is == (cl&0x20 != 0)
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// capture is the i-th capture; without any the whole match is the first.
func (m *matcher) capture(i, s, e int) lua.LValue {
	if i >= m.level {
		if i != 0 {
			m.l.RaiseError("invalid capture index %%%d", i+1)
		}
		return m.piece(s, e)
	}
	c := m.captures[i]
	switch c.size {
	case capOpen:
		m.l.RaiseError("unfinished capture")
	case capPosition:
		return lua.LNumber(c.from + 1)
	}
	return m.piece(c.from, c.from+c.size)
}

// piece is a part of the text. It shares the text's memory.
func (m *matcher) piece(s, e int) lua.LValue {
	m.b.Charge(m.l, costString)
	return lua.LString(m.src[s:e])
}

// pushCaptures pushes all captures, or the whole match when there are none and whole is set.
func (m *matcher) pushCaptures(s, e int, whole bool) int {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		m.l.Push(m.capture(i, s, e))
	}
	return n
}

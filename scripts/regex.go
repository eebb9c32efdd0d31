package scripts

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/scripts/sandbox"
)

// The bounds of regular expressions: a Go one cannot be interrupted within a character, and its size is what a
// character costs.
const (
	maxExpr    = 1000 // bytes
	maxProgram = 5000 // estimated instructions
	maxKept    = 256  // compiled expressions
)

// expression is a regular expression for the beginning of a text, and one for a place within it: the latter begins a
// character earlier, so that ^ and \b see what stands before.
type expression struct {
	first, later *regexp.Regexp
}

// regexps keeps compiled expressions; they are no state that a script could notice.
type regexps struct {
	mu   sync.Mutex
	kept map[string]*expression
}

func newRegexps() *regexps { return &regexps{kept: map[string]*expression{}} }

func (rs *regexps) get(expr string) (*expression, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if e := rs.kept[expr]; e != nil {
		return e, nil
	}
	e, err := compileExpr(expr)
	if err == nil && len(rs.kept) < maxKept {
		rs.kept[expr] = e
	}
	return e, err
}

func compileExpr(expr string) (*expression, error) {
	if len(expr) > maxExpr {
		return nil, fmt.Errorf("the pattern has more than %d bytes", maxExpr)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if size(tree) > maxProgram {
		return nil, errors.New("the pattern is too large: its repeats multiply")
	}
	first, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	later, err := regexp.Compile(`\A(?s:.)(?s:.*?)(` + expr + `)`)
	if err != nil {
		return nil, err
	}
	return &expression{first, later}, nil
}

// size estimates the instructions of a program.
func size(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1) + 1
	}
	return min(n, 1<<20)
}

// reader gives a text to a regular expression until the budget is used up.
type reader struct {
	text string
	at   int
	cost int
	b    *sandbox.Budget
}

func (r *reader) ReadRune() (rune, int, error) {
	for range r.cost {
		if r.b.Expired() {
			return 0, 0, io.EOF
		}
	}
	if r.at >= len(r.text) {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.text[r.at:])
	r.at += n
	return c, n, nil
}

// find returns the places of the first match at or after byte from, with its captures; nil when there is none.
func (m *machine) find(l *lua.LState, e *expression, text string, from int) []int {
	m.Budget.Charge(l, 512)
	re, base := e.first, 0
	if from > 0 {
		_, n := utf8.DecodeLastRuneInString(text[:from])
		re, base = e.later, from-n
	}
	loc := re.FindReaderSubmatchIndex(&reader{text: text, at: base, cost: 4, b: m.Budget})
	m.Budget.Step(l, 1) // what ended early has found nothing
	if loc == nil {
		return nil
	}
	if from > 0 {
		loc = loc[2:] // the whole match is the first group there
	}
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += base
		}
	}
	return loc
}

// regexpFunctions are test, match, find, find_all and replace, all (text, pattern, ...). Patterns are Go's.
func (m *machine) regexpFunctions() map[string]lua.LValue {
	prepared := func(l *lua.LState) (string, *expression) {
		text, expr := l.CheckString(1), l.CheckString(2)
		var e *expression
		var err error
		m.Budget.Pause(func() { e, err = m.current().set.regexps.get(expr) })
		if err != nil {
			l.RaiseError("mai.re: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return text, e
	}
	return map[string]lua.LValue{
		"test": m.Func(func(l *lua.LState) int {
			text, e := prepared(l)
			l.Push(lua.LBool(m.find(l, e, text, 0) != nil))
			return 1
		}),
		"match": m.Func(func(l *lua.LState) int { // the captures, or the whole match when there are none
			text, e := prepared(l)
			loc := m.find(l, e, text, 0)
			if loc == nil {
				l.Push(lua.LNil)
				return 1
			}
			if len(loc) > 2 {
				loc = loc[2:]
			}
			return pushGroups(l, text, loc)
		}),
		"find": m.Func(func(l *lua.LState) int { // first and last byte, from 1
			text, e := prepared(l)
			loc := m.find(l, e, text, 0)
			if loc == nil {
				l.Push(lua.LNil)
				return 1
			}
			l.Push(lua.LNumber(loc[0] + 1))
			l.Push(lua.LNumber(loc[1]))
			return 2
		}),
		"find_all": m.Func(func(l *lua.LState) int { // a list of the whole matches
			text, e := prepared(l)
			out := l.CreateTable(0, 0)
			m.all(l, e, text, func(loc []int) {
				m.Budget.Charge(l, 64)
				out.Append(lua.LString(text[loc[0]:loc[1]]))
			})
			l.Push(out)
			return 1
		}),
		"replace": m.Func(func(l *lua.LState) int { // every match by a text, in which $1 is a capture
			text, e := prepared(l)
			repl := l.CheckString(3)
			var b []byte
			done := 0
			add := func(n int) { m.Budget.Charge(l, 2*n) }
			m.all(l, e, text, func(loc []int) {
				add(loc[0] - done)
				b = append(b, text[done:loc[0]]...)
				before := len(b)
				add(len(repl) * (1 + (loc[1]-loc[0])/2))
				b = e.first.ExpandString(b, repl, text, loc)
				add(len(b) - before)
				done = loc[1]
			})
			add(len(text) - done)
			l.Push(lua.LString(string(append(b, text[done:]...))))
			return 1
		}),
	}
}

func pushGroups(l *lua.LState, text string, loc []int) int {
	n := 0
	for i := 0; i+1 < len(loc) && n < 50; i += 2 {
		if loc[i] < 0 {
			l.Push(lua.LNil)
		} else {
			l.Push(lua.LString(text[loc[i]:loc[i+1]]))
		}
		n++
	}
	return n
}

// all calls fn for every match, as regexp.FindAll finds them.
func (m *machine) all(l *lua.LState, e *expression, text string, fn func(loc []int)) {
	last := -1
	for at := 0; at <= len(text); {
		loc := m.find(l, e, text, at)
		if loc == nil {
			return
		}
		if loc[1] > loc[0] || loc[0] != last { // no empty match right behind another
			fn(loc)
		}
		last = loc[1]
		at = loc[1]
		if loc[1] == loc[0] {
			if at >= len(text) {
				return
			}
			_, n := utf8.DecodeRuneInString(text[at:])
			at += n
		}
	}
}

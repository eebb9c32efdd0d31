package redact

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

const (
	// overlap is the most bytes that one secret spans from its first to its last byte, see Set.Overlap.
	overlap = 16 << 10
	// minLiteral is the length in bytes below which a value is too common to be hidden wherever it stands.
	minLiteral = 6
	mask       = "***"
)

// Options configure New. The zero value is the built-in patterns and no literals.
type Options struct {
	// Literals are known secret values, hidden wherever they stand, case-sensitively. Each has 6 bytes to 16 KiB.
	Literals []string
	// Patterns are the shapes of secrets. Nil means Builtin(); to add to those, append to them.
	Patterns []Pattern
}

// Pattern is one shape of secret.
type Pattern struct {
	Name string
	// Prefixes are the texts that a match can begin with: literal, ASCII letters in any case, at least one. They are
	// what makes the filter fast: Expr is only tried where one of them stands.
	Prefixes []string
	// Expr is a regular expression in Go's syntax; it is matched at the prefix and includes it. The longest match
	// counts, also for lazy operators. What its participating group matches is hidden, without a group all of it.
	Expr string
	// Replace is what is shown instead; empty means ***.
	Replace string

	before func(text []byte) bool          // may the trigger stand after this text; nil: anywhere
	accept func(match, hidden []byte) bool // is this match a secret; nil: always
	max    int                             // bytes after which a match is decided; 0: overlap
	keeps  bool                            // the hidden part begins behind the prefix
	tail   bool                            // also look for private keys whose beginning is missing
}

// Set is a compiled filter, safe for concurrent use; a nil *Set changes nothing. It only changes by Replace.
type Set struct {
	literals *automaton
	triggers *automaton
	owners   []*pattern // by word of triggers
	tail     bool

	instead atomic.Pointer[Set] // what works in its place; nil: itself
}

// pattern is a Pattern with its program, which is compiled at the first use.
type pattern struct {
	Pattern
	prog func() *syntax.Prog
}

// New compiles a filter. It refuses literals that are too short or too long and patterns without prefix or with an
// expression that does not compile.
func New(o Options) (*Set, error) {
	s := &Set{}
	for i, l := range o.Literals {
		if len(l) < minLiteral || len(l) > overlap {
			return nil, fmt.Errorf("redact: literal %d has %d bytes, want %d to %d", i+1, len(l), minLiteral, overlap)
		}
	}
	if len(o.Literals) > 0 {
		s.literals = newAutomaton(o.Literals, false, func(int) bool { return false })
	}
	given := o.Patterns
	if given == nil {
		given = Builtin()
	}
	var prefixes []string
	for _, p := range given {
		if err := p.check(o.Patterns != nil); err != nil {
			return nil, fmt.Errorf("redact: pattern %q: %w", p.Name, err)
		}
		if p.Replace == "" {
			p.Replace = mask
		}
		if p.max == 0 {
			p.max = overlap
		}
		s.tail = s.tail || p.tail
		compiled := &pattern{Pattern: p, prog: sync.OnceValue(func() *syntax.Prog { return compile(p.Expr) })}
		for _, prefix := range p.Prefixes {
			prefixes = append(prefixes, prefix)
			s.owners = append(s.owners, compiled)
		}
	}
	s.triggers = newAutomaton(prefixes, true, func(i int) bool { return s.owners[i].keeps })
	return s, nil
}

// check validates a pattern. The built-in ones are not parsed here but by a test: start-up counts.
func (p Pattern) check(parse bool) error {
	if len(p.Prefixes) == 0 {
		return errors.New("no prefix")
	}
	for _, prefix := range p.Prefixes {
		if prefix == "" || len(prefix) > maxPrefix {
			return fmt.Errorf("prefix %q: want 1 to %d bytes", prefix, maxPrefix)
		}
	}
	if !parse {
		return nil
	}
	re, err := syntax.Parse(p.Expr, syntax.Perl)
	if err != nil {
		return err
	}
	_, err = syntax.Compile(re.Simplify())
	return err
}

// compile returns the program of an expression that was found to parse before.
func compile(expr string) *syntax.Prog {
	if re, err := syntax.Parse(expr, syntax.Perl); err == nil {
		if prog, err := syntax.Compile(re.Simplify()); err == nil {
			return prog
		}
	}
	// Not reached: hide the prefix and everything behind it rather than nothing.
	return &syntax.Prog{Inst: []syntax.Inst{
		{Op: syntax.InstAlt, Out: 1, Arg: 2},
		{Op: syntax.InstRuneAny, Out: 0, Rune: []rune{0, utf8.MaxRune}},
		{Op: syntax.InstMatch},
	}}
}

// Overlap is the most bytes that one secret can span, 16 KiB: who cuts a text before filtering it keeps that many on
// either side. A Stream holds back at most about that much. A longer secret is hidden from its beginning to its end.
func (s *Set) Overlap() int { return overlap }

// Replace has s hide what with hides, from now on; a Stream goes on as it began. with is not to be replaced itself.
func (s *Set) Replace(with *Set) { s.instead.Store(with) }

// current is the set that does the work.
func (s *Set) current() *Set {
	if s != nil {
		if with := s.instead.Load(); with != nil {
			return with
		}
	}
	return s
}

// String returns text with its secrets hidden.
func (s *Set) String(text string) string {
	s = s.current()
	in := []byte(text)
	if s == nil || s.clean(in) {
		return text
	}
	return string(s.filter(in))
}

// Bytes is String for bytes. It returns text itself when there is nothing to hide, and never changes it.
func (s *Set) Bytes(text []byte) []byte {
	s = s.current()
	if s == nil || s.clean(text) {
		return text
	}
	return s.filter(text)
}

func (s *Set) filter(text []byte) []byte {
	st := s.Stream()
	out := append(make([]byte, 0, len(text)), st.Write(text)...)
	return append(out, st.Flush()...)
}

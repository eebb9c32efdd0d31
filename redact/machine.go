package redact

import (
	"regexp/syntax"
	"unicode/utf8"
)

// attempt matches one pattern at one place of a stream, in steps that may end anywhere: a simulation of the
// expression's program that keeps only what the next rune needs. Offsets count from the beginning of the stream.
type attempt struct {
	p     *pattern
	start int  // where the prefix begins
	limit int  // where the attempt gives up reading
	pos   int  // how far it has read
	prev  rune // the rune before pos, -1 at the beginning
	seeds []thread
	list  []thread // scratch: the closure of seeds
	seen  []uint32 // scratch: by instruction, the round it was last added in
	round uint32

	from, to int // what the longest match so far hides; to is -1 when there is none
}

// thread is a place in the program and what it would hide; from is -1 until that begins.
type thread struct {
	pc       uint32
	from, to int
}

type progress int

const (
	undecided progress = iota // needs more text
	ended                     // cannot match any further
	capped                    // could, but has reached the pattern's length
)

func (a *attempt) begin(p *pattern, start int, prev rune) {
	a.p, a.start, a.pos, a.prev = p, start, start, prev
	a.limit = start + p.max
	a.from, a.to = -1, -1
	prog := p.prog()
	if n := len(prog.Inst); n > len(a.seen) {
		a.seen = make([]uint32, n)
		a.round = 0
	}
	a.seeds = append(a.seeds[:0], thread{pc: uint32(prog.Start), from: -1, to: -1})
}

// advance reads text, which continues at pos; last says that nothing follows it.
func (a *attempt) advance(text []byte, last bool) progress {
	for len(a.seeds) > 0 {
		if len(text) == 0 {
			if !last {
				return undecided
			}
			a.closure(-1)
			a.seeds = a.seeds[:0]
			return ended
		}
		if a.pos >= a.limit {
			return capped
		}
		if !last && !utf8.FullRune(text) {
			return undecided
		}
		r, n := utf8.DecodeRune(text)
		a.closure(r)
		a.seeds = a.seeds[:0]
		insts := a.p.prog().Inst
		for _, t := range a.list {
			if in := &insts[t.pc]; in.MatchRune(r) {
				t.pc = in.Out
				a.seeds = append(a.seeds, t)
			}
		}
		if len(a.seeds) == 0 {
			return ended
		}
		a.prev, a.pos = r, a.pos+n
		text = text[n:]
	}
	return ended
}

// closure follows the seeds through everything that reads no rune, next being the rune at pos or -1 at the end.
func (a *attempt) closure(next rune) {
	a.list = a.list[:0]
	if a.round++; a.round == 0 {
		clear(a.seen)
		a.round = 1
	}
	flags := syntax.EmptyOpContext(a.prev, next)
	for _, t := range a.seeds {
		a.add(t, flags)
	}
}

func (a *attempt) add(t thread, flags syntax.EmptyOp) {
	insts := a.p.prog().Inst
	for {
		if a.seen[t.pc] == a.round {
			return
		}
		a.seen[t.pc] = a.round
		in := &insts[t.pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			a.add(thread{in.Out, t.from, t.to}, flags)
			t.pc = in.Arg
		case syntax.InstNop:
			t.pc = in.Out
		case syntax.InstCapture:
			if in.Arg >= 2 && in.Arg%2 == 0 {
				t.from = a.pos
			} else if in.Arg >= 2 {
				t.to = a.pos
			}
			t.pc = in.Out
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags != 0 {
				return
			}
			t.pc = in.Out
		case syntax.InstMatch:
			a.match(t)
			return
		case syntax.InstFail:
			return
		default:
			a.list = append(a.list, t)
			return
		}
	}
}

// match takes a match that ends at pos: it is longer than any before.
func (a *attempt) match(t thread) {
	from, to := t.from, t.to
	if from < 0 || to < from {
		from, to = a.start, a.pos
	}
	if to > from {
		a.from, a.to = from, to
	}
}

// hidden is where the text begins that a match could still hide; nothing before it can be hidden by this attempt.
func (a *attempt) hidden() int {
	if !a.p.keeps {
		return a.start
	}
	at := a.pos
	if a.to >= 0 {
		at = min(at, a.from)
	}
	for _, t := range a.seeds {
		if t.from >= 0 {
			at = min(at, t.from)
		}
	}
	return at
}

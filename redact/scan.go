package redact

import (
	"math"
	"unicode/utf8"
)

const (
	context   = 16 // bytes before a trigger that patterns look at
	maxPrefix = 64 // bytes
)

// scanner hides what the patterns of a set describe, in a stream. Offsets count from the beginning of the stream.
// What it decides depends on the text alone; only how much it can show so far depends on the chunks.
type scanner struct {
	set   *Set
	buf   []byte
	base  int // offset of buf[0]
	shown int // everything before it was given out or hidden
	next  int // the automaton has read everything before it
	row   uint32
	due   []hit // triggers that end at next and were not tried yet

	try     attempt
	open    bool // try is under way
	swallow bool // what try matches was replaced already: text is dropped until it ends
}

// write reads p and appends to dst what can be shown; last says that the stream ends with it.
func (s *scanner) write(dst, p []byte, last bool) []byte {
	s.buf = append(s.buf, p...)
	for {
		if s.open {
			how := s.try.advance(s.buf[s.try.pos-s.base:], last)
			if how == undecided {
				return s.release(dst, s.limit())
			}
			dst = s.decide(dst, how)
		}
		if !s.open && !s.find() {
			end := s.base + len(s.buf)
			if !last {
				end -= s.set.triggers.hold(s.row)
			}
			return s.release(dst, end)
		}
	}
}

// find goes on to the next place where a pattern may begin and begins there. It is false at the end of the text.
func (s *scanner) find() bool {
	for {
		for len(s.due) > 0 {
			h := s.due[0]
			s.due = s.due[1:]
			if s.begins(h, s.next) {
				start := s.next - h.size
				s.try.begin(s.set.owners[h.word], start, lastRune(s.buf[:start-s.base]))
				s.open = true
				return true
			}
		}
		s.row, s.next, s.due = s.run(s.row, s.next, s.base+len(s.buf))
		if len(s.due) == 0 {
			return false
		}
	}
}

// run lets the automaton read from one offset up to another or to the end of the first trigger.
func (s *scanner) run(row uint32, from, to int) (uint32, int, []hit) {
	for i := from; i < to; i++ {
		row = s.set.triggers.step(row, s.buf[i-s.base])
		if row&hitBit != 0 {
			return row, i + 1, s.set.triggers.at(row)
		}
	}
	return row, max(from, to), nil
}

// begins says whether the trigger h that ends before the offset end may begin its pattern.
func (s *scanner) begins(h hit, end int) bool {
	before := s.set.owners[h.word].before
	if before == nil {
		return true
	}
	start := end - h.size - s.base
	return before(s.buf[max(0, start-context):start])
}

func lastRune(text []byte) rune {
	if len(text) == 0 {
		return -1
	}
	r, _ := utf8.DecodeLastRune(text)
	return r
}

// decide ends an attempt: hide what it found, or go on searching behind its trigger.
func (s *scanner) decide(dst []byte, how progress) []byte {
	t := &s.try
	s.open = false
	if s.swallow {
		s.swallow = false
		s.resume(t.pos)
		return dst
	}
	if t.to < 0 {
		return dst
	}
	if t.p.accept != nil && !t.p.accept(s.buf[t.start-s.base:t.to-s.base], s.buf[t.from-s.base:t.to-s.base]) {
		return dst
	}
	dst = s.release(dst, t.from)
	dst = append(dst, t.p.Replace...)
	if how == capped {
		s.open, s.swallow = true, true
		t.limit = math.MaxInt
		s.shown, s.next = t.pos, t.pos
		return dst
	}
	s.resume(t.to)
	return dst
}

// resume searches on from at, behind something hidden.
func (s *scanner) resume(at int) {
	s.shown, s.next, s.row, s.due = at, at, 0, nil
}

// limit is the offset before which nothing can be hidden any more while an attempt is under way: neither by it nor,
// should it fail, by one that begins behind its trigger.
func (s *scanner) limit() int {
	if s.swallow {
		s.shown, s.next = s.try.pos, s.try.pos
		return s.shown
	}
	at := s.try.hidden()
	for _, h := range s.due {
		if !s.set.owners[h.word].keeps {
			at = min(at, s.next-h.size)
		}
	}
	row, i := s.row, s.next
	for {
		if n := s.set.triggers.hold(row); n > 0 {
			at = min(at, i-n)
		}
		if i >= at {
			return at
		}
		var hits []hit
		row, i, hits = s.run(row, i, at)
		for _, h := range hits {
			if s.begins(h, i) {
				at = min(at, i-h.size)
			}
		}
	}
}

// release gives out the text before at and forgets what nobody will look at again.
func (s *scanner) release(dst []byte, at int) []byte {
	if at > s.shown {
		dst = append(dst, s.buf[s.shown-s.base:at-s.base]...)
		s.shown = at
	}
	keep := min(s.shown, s.next-maxPrefix)
	if s.open && !s.swallow {
		keep = min(keep, s.try.start)
	}
	if keep -= context; keep-s.base > len(s.buf)/2 {
		s.buf = s.buf[:copy(s.buf, s.buf[keep-s.base:])]
		s.base = keep
	}
	return dst
}

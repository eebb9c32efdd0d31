package redact

import "bytes"

// Stream filters a text that comes in chunks. It is made by Set.Stream and not safe for concurrent use.
type Stream struct {
	set    *Set
	tails  tails
	values literals
	shapes scanner
	a, b   []byte // what passes between the stages, and what was returned last
}

// Stream begins a new text. That of a nil Set gives back what it gets.
func (s *Set) Stream() *Stream {
	st := &Stream{set: s.current()}
	st.reset()
	return st
}

func (st *Stream) reset() {
	if st.set == nil {
		return
	}
	st.tails = tails{buf: st.tails.buf[:0]}
	st.values = literals{auto: st.set.literals, buf: st.values.buf[:0]}
	st.shapes = scanner{set: st.set, buf: st.shapes.buf[:0]}
}

// Write takes the next chunk and returns the text that is safe to show so far, which can be less or more than p, or
// nothing. What could be the beginning of a secret is kept back until it is decided. The result is valid until the
// next call; p is not kept.
func (st *Stream) Write(p []byte) []byte { return st.pass(p, false) }

// Flush ends the text and returns what was kept back. The Stream then is ready for another text.
func (st *Stream) Flush() []byte {
	out := st.pass(nil, true)
	st.reset()
	return out
}

func (st *Stream) pass(p []byte, last bool) []byte {
	if st.set == nil {
		return p
	}
	st.a, st.b = st.a[:0], st.b[:0]
	if st.set.tail {
		st.a = st.tails.write(st.a, p, last)
		p = st.a
	}
	if st.set.literals != nil {
		st.b = st.values.write(st.b, p, last)
		p, st.a, st.b = st.b, st.b, st.a
	}
	st.b = st.shapes.write(st.b[:0], p, last)
	return st.b
}

// clean says that there is nothing to hide in a whole text. It can err to the other side only.
func (s *Set) clean(text []byte) bool {
	if s.tail && bytes.Contains(text, []byte("-----END ")) {
		return false
	}
	if s.literals != nil && s.literals.finds(text) {
		return false
	}
	row := uint32(0)
	for i, b := range text {
		if row = s.triggers.step(row, b); row&hitBit == 0 {
			continue
		}
		for _, h := range s.triggers.at(row) {
			p := s.owners[h.word]
			if start := i + 1 - h.size; p.before == nil || p.before(text[max(0, start-context):start]) {
				return false
			}
		}
	}
	return true
}

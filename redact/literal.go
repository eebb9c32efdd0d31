package redact

// literals hides known values in a stream. Values that overlap are hidden as one. Offsets count from the beginning of
// the stream.
type literals struct {
	auto  *automaton
	buf   []byte
	base  int // offset of buf[0]; everything before it was given out or hidden
	next  int // the automaton has read everything before it
	row   uint32
	found []span // in order, apart from each other, not yet given out
}

// span is a stretch of text to hide.
type span struct {
	from, to int
	masked   bool // its mask was given out; it can still grow at its end
}

// write reads p and appends to dst what can be shown; last says that the stream ends with it.
func (l *literals) write(dst, p []byte, last bool) []byte {
	l.buf = append(l.buf, p...)
	row := l.row
	for _, b := range p {
		row = l.auto.step(row, b)
		l.next++
		if row&hitBit != 0 {
			l.add(l.next-l.auto.at(row)[0].size, l.next)
		}
	}
	l.row = row
	sure := l.next
	if !last {
		// No value that is still to be found begins before this.
		sure -= l.auto.hold(row)
	}
	return l.release(dst, sure)
}

// add takes a value that was found at the end of the text, and joins it with those it overlaps.
func (l *literals) add(from, to int) {
	s := span{from: from, to: to}
	for n := len(l.found); n > 0 && s.from < l.found[n-1].to; n = len(l.found) {
		s.from = min(s.from, l.found[n-1].from)
		s.masked = l.found[n-1].masked
		l.found = l.found[:n-1]
	}
	l.found = append(l.found, s)
}

func (l *literals) release(dst []byte, sure int) []byte {
	at := l.base
	for len(l.found) > 0 && l.found[0].from < sure {
		s := &l.found[0]
		if !s.masked {
			dst = append(dst, l.buf[at-l.base:s.from-l.base]...)
			dst = append(dst, mask...)
			s.masked = true
		}
		at = min(s.to, sure)
		if s.to > sure {
			break
		}
		l.found = l.found[1:]
	}
	if len(l.found) == 0 || l.found[0].from >= sure {
		dst = append(dst, l.buf[at-l.base:sure-l.base]...)
	}
	l.buf = l.buf[:copy(l.buf, l.buf[sure-l.base:])]
	l.base = sure
	return dst
}

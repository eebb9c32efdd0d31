package redact

import "bytes"

// tails hides the rest of a private key whose beginning the stream lacks (tail, sed, a cut): lines of base64 before
// "-----END ... PRIVATE KEY-----". At the beginning of the stream the first line counts from its first character;
// elsewhere a run begins with a full line, of which the first leadIn characters are shown: otherwise every word at the
// beginning of a line would have to wait for what follows it.
//
// Offsets count from the beginning of buf.
type tails struct {
	buf    []byte
	out    int  // everything before it was given out or hidden
	line   int  // where the line that comes next begins
	lines  int  // lines read, up to topLines
	rest   bool // line is inside a line that is of no interest
	run    bool // the lines before may be the rest of a key
	from   int  // what the run hides begins here
	to     int  // and ends here, before the line end of its last line
	closed bool // the run has had its short last line
	long   bool // the run went on for too long to be a key: its lines are shown
}

const (
	leadIn   = 24
	fullLine = 60 // characters; keys are written with 64, 70 or 76
	maxLine  = 80
	maxIn    = 16 // indentation
	maxLabel = 40 // between END and the dashes
	maxWord  = 12
	topLines = 2 // lines at the beginning that may be the rest of a cut line
)

// write reads p and appends to dst what can be shown; last says that the stream ends with it.
func (t *tails) write(dst, p []byte, last bool) []byte {
	t.buf = append(t.buf, p...)
	for t.line < len(t.buf) {
		if t.rest {
			n := bytes.IndexByte(t.buf[t.line:], '\n') + 1
			if n == 0 {
				t.line = len(t.buf)
				break
			}
			t.line += n
			t.rest = false
			continue
		}
		l := readLine(t.buf[t.line:], last)
		if l.kind == partial {
			return t.release(dst, t.holdPartial(l))
		}
		dst = t.take(dst, l)
	}
	if t.run && !last {
		return t.release(dst, t.from)
	}
	t.run = false
	return t.release(dst, len(t.buf))
}

// holdPartial is where the text begins that has to wait for the rest of the line l.
func (t *tails) holdPartial(l line) int {
	switch {
	case t.run:
		return t.from
	case t.long:
		return len(t.buf)
	case t.lines < topLines:
		return t.line
	}
	return min(t.line+l.indent+leadIn, len(t.buf))
}

// take moves on over a line whose kind is known.
func (t *tails) take(dst []byte, l line) []byte {
	top := t.lines < topLines
	t.lines = min(t.lines+1, topLines)
	if t.run && l.kind == end {
		dst = append(t.release(dst, t.from), mask...)
		t.out = t.to
		t.run, t.rest = false, true
		return dst
	}
	if t.run && !t.goesOn(l) {
		t.run = false
	}
	t.long = t.long && l.kind == full
	switch {
	case t.run:
		t.closed = t.closed || l.kind != full
		if t.line-t.from > overlap {
			t.run, t.long = false, true
		}
	case t.long:
	case top && (l.kind == full || l.kind == short):
		t.run, t.closed, t.from = true, false, t.line
	case l.kind == full:
		t.run, t.closed, t.from = true, false, t.line+l.indent+leadIn
	case l.kind == other || l.kind == end:
		t.rest = true
		return dst
	}
	t.to = t.line + l.text
	t.line += l.size
	return dst
}

// goesOn says whether a run can have l as its next line: full ones, a short one, the checksum line of PGP.
func (t *tails) goesOn(l line) bool {
	switch l.kind {
	case full, plain, short:
		return !t.closed || l.checksum
	}
	return false
}

// release gives out the text before n and forgets what is no longer needed.
func (t *tails) release(dst []byte, n int) []byte {
	if n > t.out {
		dst = append(dst, t.buf[t.out:n]...)
		t.out = n
	}
	if gone := min(t.out, t.line); gone > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[gone:])]
		t.out -= gone
		t.line -= gone
		t.from -= gone
		t.to -= gone
	}
	return dst
}

// kind is what a line is to a private key.
type kind int

const (
	other   kind = iota
	partial      // can still become one of the following
	full         // a full line of base64
	short        // base64, but shorter
	plain        // the same, but empty or what looks like a word or a number
	end          // the END line of a private key
)

// line is one line as readLine found it.
type line struct {
	kind     kind
	indent   int
	text     int // bytes before the line end
	size     int // bytes with the line end
	checksum bool
}

// readLine looks at the line at the beginning of text; last says that nothing follows text. A line ends at a line
// feed or, as in JSON, at the two characters \n.
func readLine(text []byte, last bool) line {
	l := line{}
	for l.indent < len(text) && l.indent < maxIn && (text[l.indent] == ' ' || text[l.indent] == '\t') {
		l.indent++
	}
	body := text[l.indent:]
	n := base64Len(body)
	if n > maxLine {
		return l
	}
	if n == 0 && len(body) > 0 && body[0] == '-' {
		l.kind = readEnd(body, last)
		return l
	}
	eol, ok := lineEnd(body[n:], last)
	if !ok {
		l.kind = partial
		return l
	}
	if eol < 0 {
		return l
	}
	l.text = l.indent + n
	l.size = l.text + eol
	l.checksum = n == 5 && body[0] == '='
	switch {
	case n >= fullLine:
		l.kind = full
	case isPlain(body[:n]):
		l.kind = plain
	default:
		l.kind = short
	}
	return l
}

// lineEnd is the length of the line end that text begins with, -1 when it begins with something else. It is not ok
// when more text is needed to tell.
func lineEnd(text []byte, last bool) (n int, ok bool) {
	if len(text) == 0 && last {
		return 0, true
	}
	for _, eol := range []string{"\n", "\r\n", `\n`, `\r\n`} {
		if len(text) >= len(eol) && string(text[:len(eol)]) == eol {
			return len(eol), true
		}
		if len(text) < len(eol) && string(text) == eol[:len(text)] && !last {
			return 0, false
		}
	}
	return -1, true
}

// readEnd says whether text begins with the END line of a private key.
func readEnd(text []byte, last bool) kind {
	const begin, dashes = "-----END ", "-----"
	if len(text) < len(begin) {
		if !last && string(text) == begin[:len(text)] {
			return partial
		}
		return other
	}
	if string(text[:len(begin)]) != begin {
		return other
	}
	label := text[len(begin):min(len(text), len(begin)+maxLabel+len(dashes))]
	n := bytes.Index(label, []byte(dashes))
	if n < 0 {
		if !last && len(label) < maxLabel+len(dashes) && !bytes.ContainsAny(label, "\r\n\\") {
			return partial
		}
		return other
	}
	label = label[:n]
	if bytes.HasSuffix(label, []byte("PRIVATE KEY")) || bytes.HasSuffix(label, []byte("PRIVATE KEY BLOCK")) {
		return end
	}
	return other
}

// base64Len is how many bytes at the beginning of text are base64 with its padding, or the checksum of PGP ("=" and
// four characters). It stops counting beyond maxLine.
func base64Len(text []byte) int {
	n := 0
	if len(text) > 0 && text[0] == '=' {
		n = 1
		for n < len(text) && n < 5 && isBase64(text[n]) {
			n++
		}
		return n
	}
	for n < len(text) && n <= maxLine && isBase64(text[n]) {
		n++
	}
	for pad := 0; pad < 2 && n < len(text) && n <= maxLine && text[n] == '='; pad++ {
		n++
	}
	return n
}

func isBase64(b byte) bool { return isLetter(b) || isDigit(b) || b == '+' || b == '/' }

// isPlain says that text is a word (lower case, capitalised or upper case) or a number, as output begins with all the
// time; the rest of a key looks like that only when there is next to nothing of it.
func isPlain(text []byte) bool {
	if len(text) > maxWord {
		return false
	}
	var lowers, uppers, digits int
	for _, b := range text {
		switch {
		case b >= 'a' && b <= 'z':
			lowers++
		case isLetter(b):
			uppers++
		case isDigit(b):
			digits++
		}
	}
	capital := uppers == 1 && text[0] >= 'A' && text[0] <= 'Z'
	return lowers == len(text) || uppers == len(text) || digits == len(text) || capital && lowers+1 == len(text)
}

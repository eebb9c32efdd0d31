package screen

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
	"golang.org/x/text/width"
)

// The library has one character in one cell. What needs more stands in the cells under these, which no text may have:
// plane 16 is for private use.
const (
	second     rune = 0x10fffe // the second cell of a wide character
	firstMark  rune = 0x100000 // a character with its combining marks: number in clusters
	maxMarks        = 8192
	maxCluster      = 32 // bytes
)

// clusters numbers the characters that have combining marks.
type clusters struct {
	number map[string]rune
	texts  []string
}

// of returns what stands for text, or its first character when there are too many.
func (c *clusters) of(text string) rune {
	if r, ok := c.number[text]; ok {
		return r
	}
	first, _ := utf8.DecodeRuneInString(text)
	if len(c.texts) >= maxMarks {
		return first
	}
	if c.number == nil {
		c.number = map[string]rune{}
	}
	r := firstMark + rune(len(c.texts))
	c.number[text] = r
	c.texts = append(c.texts, text)
	return r
}

// text returns what r stands for.
func (c *clusters) text(r rune) string {
	if i := int(r - firstMark); i >= 0 && i < len(c.texts) {
		return c.texts[i]
	}
	return string(r)
}

// columns is how many cells a character takes: 0, 1 or 2, as programs reckon it.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), r >= 0x1160 && r <= 0x11ff: // the latter: later parts of Hangul syllables
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func (s *Screen) wraps() bool { return s.term.Mode()&vt10x.ModeWrap != 0 }

// pen is where the next character goes while out is being filled.
type pen struct {
	x     int
	full  bool // the last cell of the row is written: the next character wraps
	wraps bool
}

func (s *Screen) pen() pen {
	at := s.term.Cursor()
	return pen{at.X, at.State&stateWrapNext != 0, s.wraps()}
}

// put writes text, in which there are no sequences.
func (s *Screen) put(text []byte) {
	text = s.skip(text)
	p := s.pen()
	for len(text) > 0 {
		if b := text[0]; b < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
			s.putByte(&p, b)
			text = text[1:]
			continue
		}
		n := s.putCluster(&p, text)
		text = text[n:]
	}
	s.flush()
}

// skip leaves out the lines that scroll off before the end of text, when that is all that they do.
func (s *Screen) skip(text []byte) []byte {
	if len(text) < s.size.rows || s.view.top != 0 || s.view.bottom != s.size.rows-1 {
		return text
	}
	at, lines := len(text), 0
	for lines <= s.size.rows {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
		lines++
	}
	if at = bytes.LastIndex(text[:at+1], []byte("\r\n")); at <= 0 {
		return text
	}
	return text[at:]
}

// flush hands on what put gathered.
func (s *Screen) flush() {
	_, _ = s.term.Write(s.out) // as in feed
	s.out = s.out[:0]
}

// putByte writes an ASCII character or one of the controls that text has.
func (s *Screen) putByte(p *pen, b byte) {
	s.last = 0
	switch b {
	case '\t':
		s.out = append(s.out, b)
		s.flush()
		*p = s.pen()
	case '\r':
		p.x, p.full = 0, false
		s.out = append(s.out, b)
	case '\b':
		p.x, p.full = max(p.x-1, 0), false
		s.out = append(s.out, b)
	case '\n', '\v', '\f':
		p.full = false
		s.out = append(s.out, '\n')
		if s.term.Mode()&vt10x.ModeCRLF != 0 {
			p.x = 0
		}
	default:
		s.last = rune(b)
		s.room(p, 1)
		s.cell(p, rune(b))
	}
}

// putCluster writes the character that text begins with, and its marks. It returns how many bytes they are.
func (s *Screen) putCluster(p *pen, text []byte) int {
	r, n := utf8.DecodeRune(text)
	if r < ' ' {
		s.putByte(p, text[0])
		return 1
	}
	cells, end := columns(r), n
	for end < len(text) {
		mark, size := utf8.DecodeRune(text[end:])
		if mark < utf8.RuneSelf || columns(mark) != 0 {
			break
		}
		end += size
	}
	switch {
	case cells == 0 || unicode.IsControl(r): // marks without a character, or C1
		return end
	case r >= firstMark:
		r = utf8.RuneError
	}
	if s.last = r; end > n && end <= maxCluster && r != utf8.RuneError {
		s.last = s.marks.of(string(text[:end]))
	}
	s.putWide(p, s.last, cells)
	return end
}

func (s *Screen) putWide(p *pen, r rune, cells int) {
	if cells > s.size.cols {
		r, cells = ' ', 1
	}
	s.room(p, cells)
	s.cell(p, r)
	if cells == 2 {
		s.cell(p, second)
	}
}

// room sees to it that what takes so many cells is not cut by the edge, and makes place for it in insert mode.
func (s *Screen) room(p *pen, cells int) {
	if cells == 2 && p.x == s.size.cols-1 && !p.full {
		if p.wraps {
			s.cell(p, ' ')
		} else {
			p.x--
			s.out = append(s.out, '\b')
		}
	}
	if !s.view.insert {
		return
	}
	if p.full && p.wraps {
		s.out = append(s.out, "\x1bE"...)
		p.x, p.full = 0, false
	}
	for range cells {
		s.out = append(s.out, "\x1b[@"...)
	}
}

// cell writes one cell.
func (s *Screen) cell(p *pen, r rune) {
	s.out = utf8.AppendRune(s.out, r)
	if p.full && p.wraps {
		p.x, p.full = 0, false
	}
	if p.x+1 < s.size.cols {
		p.x++
	} else {
		p.full = true
	}
}

// repeat is REP: the last character again.
func (s *Screen) repeat(n int) {
	if s.last == 0 {
		return
	}
	p := s.pen()
	first, _ := utf8.DecodeRuneInString(s.marks.text(s.last))
	for range n {
		s.putWide(&p, s.last, columns(first))
	}
	s.flush()
}

// row returns one row as text.
func (s *Screen) row(y int) string {
	var b strings.Builder
	for x := 0; x < s.size.cols; x++ {
		r := s.term.Cell(x, y).Char
		text := s.marks.text(r)
		first, _ := utf8.DecodeRuneInString(text)
		switch {
		case r == 0 || r == second: // never written, or half overwritten
			b.WriteByte(' ')
		case columns(first) < 2:
			b.WriteString(text)
		case x+1 < s.size.cols && s.term.Cell(x+1, y).Char == second:
			b.WriteString(text)
			x++
		default:
			b.WriteByte(' ')
		}
	}
	return strings.TrimRight(b.String(), " ")
}

package screen

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one piece of what the program wrote.
type token struct {
	kind                 kind
	start, end           int  // text: in Screen.text
	prefix, inter, final byte // of a sequence; 0: none
	args                 [4]int
	n                    int // how many args were given
}

type kind uint8

const (
	text kind = iota
	csi
	esc
	query // one whose answer depends on the screen
)

type state uint8

const (
	ground state = iota
	inEsc
	inCSI
	inString    // OSC, DCS, APC, PM, SOS: up to ESC \
	inStringEsc // at the ESC
)

const (
	maxArgs   = 16
	maxArg    = 65535
	maxString = 1024
)

// scanner is where in a sequence the last byte read was.
type scanner struct {
	state         state
	prefix, inter byte
	args          [maxArgs]int
	n             int  // args begun
	odd           bool // has sub-parameters or too much of something
	sub           bool // within a sub-parameter
	kind          byte // of string: ']', 'P', ...
	str           []byte
}

// read splits p into tokens.
func (s *Screen) read(p []byte) {
	for i := 0; i < len(p); {
		if s.scan.state == ground {
			n := textLen(p[i:])
			if n > 0 {
				s.addText(p[i : i+n])
				i += n
				continue
			}
		}
		if s.step(p[i]) {
			i++
		}
	}
}

// textLen is how many bytes of text p begins with; the controls that move the cursor along belong to it.
func textLen(p []byte) int {
	for i, b := range p {
		if b < ' ' && !moves(b) || b == 0x7f {
			return i
		}
	}
	return len(p)
}

func moves(b byte) bool { return b >= '\b' && b <= '\r' }

func (s *Screen) addText(p []byte) {
	start := len(s.text)
	s.text = append(s.text, p...)
	if n := len(s.tokens); n > 0 && s.tokens[n-1].kind == text {
		s.tokens[n-1].end = len(s.text)
		return
	}
	s.tokens = append(s.tokens, token{kind: text, start: start, end: len(s.text)})
}

// step takes one byte that is no text and reports whether it is used up.
func (s *Screen) step(b byte) bool {
	c := &s.scan
	if c.state == inString || c.state == inStringEsc {
		return s.stepString(b)
	}
	switch {
	case b == 0x1b:
		*c = scanner{state: inEsc, str: c.str[:0]}
	case b == 0x18 || b == 0x1a:
		c.state = ground
	case b < ' ' || b == 0x7f:
		s.stepControl(b)
	case b >= 0x80: // no sequence has it: it is text
		c.state = ground
		return false
	case c.state == inEsc:
		s.stepEsc(b)
	default:
		s.stepCSI(b)
	}
	return true
}

// stepControl does a control character, which terminals do even in the midst of a sequence.
func (s *Screen) stepControl(b byte) {
	switch {
	case moves(b):
		s.addText([]byte{b})
	case b == 0x0e || b == 0x0f:
		s.add(token{kind: esc, final: b})
	}
}

func (s *Screen) stepEsc(b byte) {
	c := &s.scan
	switch {
	case b < '0':
		c.odd = c.inter != 0
		c.inter = b
	case c.inter == 0 && b == '[':
		c.state = inCSI
	case c.inter == 0 && strings.IndexByte("]PX^_k", b) >= 0:
		c.state, c.kind = inString, b
	default:
		c.state = ground
		if !c.odd {
			s.add(token{kind: esc, inter: c.inter, final: b})
			if b == 'Z' {
				s.draw() // it is a question
			}
		}
	}
}

func (s *Screen) stepCSI(b byte) {
	c := &s.scan
	switch {
	case b >= '0' && b <= '9':
		if c.n == 0 {
			c.n = 1
		}
		if !c.sub && c.n <= maxArgs {
			c.args[c.n-1] = min(c.args[c.n-1]*10+int(b-'0'), maxArg)
		}
	case b == ';':
		c.n, c.sub = min(max(c.n, 1)+1, maxArgs+1), false
	case b == ':':
		c.sub, c.odd = true, true
	case b >= '<' && b <= '?':
		c.odd = c.odd || c.prefix != 0 || c.n > 0
		c.prefix = b
	case b < '0':
		c.odd = c.odd || c.inter != 0
		c.inter = b
	default:
		c.state = ground
		if !c.odd {
			s.dispatch(b)
		}
	}
}

// dispatch makes tokens of a complete control sequence.
func (s *Screen) dispatch(final byte) {
	c := &s.scan
	t := token{kind: csi, prefix: c.prefix, inter: c.inter, final: final, n: min(c.n, maxArgs)}
	if (final == 'h' || final == 'l') && c.inter == 0 {
		for _, mode := range c.args[:t.n] {
			t.args[0] = mode
			s.add(t)
		}
		return
	}
	copy(t.args[:], c.args[:])
	t.n = min(t.n, len(t.args))
	if asks(t) {
		t.kind = query
	}
	s.add(t)
}

// add keeps a token, unless it only colours. An answer depends on all that came before, and cannot wait.
func (s *Screen) add(t token) {
	if t.final == 'm' && t.kind == csi {
		return
	}
	s.tokens = append(s.tokens, t)
	if t.kind == query {
		s.draw()
	}
}

func (s *Screen) stepString(b byte) bool {
	c := &s.scan
	switch {
	case c.state == inStringEsc && b == '\\', b == 0x07 && c.state == inString:
		c.state = ground
		s.endString(b == 0x07)
	case c.state == inStringEsc: // another sequence: this one never ends
		c.state = inEsc
		return false
	case b == 0x1b:
		c.state = inStringEsc
		c.inter, c.prefix, c.n, c.odd, c.sub = 0, 0, 0, false, false
		c.args = [maxArgs]int{}
	case b == 0x18 || b == 0x1a:
		c.state = ground
	case len(c.str) < maxString:
		c.str = append(c.str, b)
	}
	return true
}

// endString does what a complete string asks for.
func (s *Screen) endString(bell bool) {
	c := &s.scan
	if c.kind == 'P' {
		switch {
		case bytes.HasPrefix(c.str, []byte("$q")):
			s.reply("\x1bP0$r\x1b\\") // DECRQSS: no such setting
		case bytes.HasPrefix(c.str, []byte("+q")):
			s.reply("\x1bP0+r\x1b\\") // XTGETTCAP: no such capability
		}
		return
	}
	if c.kind != ']' {
		return
	}
	number, value, _ := strings.Cut(string(c.str), ";")
	end := "\x1b\\"
	if bell {
		end = "\x07"
	}
	switch {
	case number == "0" || number == "2":
		s.view.title = printable(value)
	case value != "?":
	case number == "10" || number == "12": // colours of the text, of the cursor: white
		s.reply("\x1b]" + number + ";rgb:ffff/ffff/ffff" + end)
	case number == "11": // of the background: black
		s.reply("\x1b]11;rgb:0000/0000/0000" + end)
	}
}

// printable returns title without what cannot be shown, cut to its bound.
func printable(title string) string {
	title = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, title)
	if len(title) <= maxTitle {
		return title
	}
	title = title[:maxTitle]
	return title[:len(title)-cutRune([]byte(title))]
}

// cutRune is how many bytes at the end of p are the beginning of a character.
func cutRune(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

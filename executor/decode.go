package executor

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// How a stream becomes text. One decision per stream, made when the stream is complete, so that the size of the pieces
// in which it arrived cannot change it:
//
//  1. UTF-16 by its byte order mark, or little-endian without one when that is beyond doubt;
//  2. UTF-8 when everything is valid. A character that is incomplete at the very end, or was cut where output was
//     dropped, does not count against it: only that tail is lost;
//  3. the configured code page, else that of the locale (on Windows the OEM page, which console programs write), when
//     everything decodes there and the text is not mostly UTF-8 with a flaw;
//  4. otherwise line by line: UTF-8 where a line is valid, the code page where the line decodes there, else UTF-8 in
//     which every maximal invalid part is one U+FFFD.
//
// NUL becomes U+2400 (␀): many consumers of JSON cannot store U+0000. A UTF-8 byte order mark is kept as U+FEFF.

// replacement stands for what could not be decoded.
const replacement = string(utf8.RuneError)

// codec turns bytes into text.
type codec interface {
	// decode returns the text of b, how many invalid parts it replaced, and how many bytes at the end of b are the
	// beginning of a character (they are not in the text).
	decode(b []byte) (text string, bad, rest int)
	// skip returns how many bytes at the start of b, which lies at offset at of its stream, belong to a character
	// that began before b.
	skip(b []byte, at int64) int
	// chars estimates how many characters t covers.
	chars(t tally) int64
}

// ends is a captured stream: whole in head, or with something dropped between head and tail.
type ends struct {
	head, tail []byte
	tailAt     int64 // offset of tail in the stream
	cut        bool
}

// decodeEnds returns the text of both ends, how many characters lost their first bytes at the end of head, and the
// codec that read them. page names the code page; empty: the locale's.
func decodeEnds(e ends, page string) (head, tail string, split int64, c codec) {
	c = chooseCodec(e, page)
	b := e.head
	if wide, ok := c.(utf16Codec); ok {
		b = wide.trimMark(b)
	}
	head, _, rest := c.decode(b)
	if !e.cut {
		if rest > 0 {
			head += replacement
		}
		return showNUL(head), "", 0, c
	}
	if rest > 0 {
		split = 1
	}
	tail, _, rest = c.decode(e.tail[c.skip(e.tail, e.tailAt):])
	if rest > 0 {
		tail += replacement
	}
	return showNUL(head), showNUL(tail), split, c
}

func showNUL(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "\u2400")
}

func chooseCodec(e ends, page string) codec {
	switch {
	case bytes.HasPrefix(e.head, []byte{0xFF, 0xFE}):
		return utf16Codec{}
	case bytes.HasPrefix(e.head, []byte{0xFE, 0xFF}):
		return utf16Codec{big: true}
	case looksUTF16LE(e.head) && clean(utf16Codec{}, e):
		return utf16Codec{}
	}
	valid, bad := weighUTF8(e)
	nul := bytes.IndexByte(e.head, 0) >= 0 // UTF-16 can be valid UTF-8, but only with NUL
	if bad == 0 && !nul {
		return utf8Codec{}
	}
	if page == "" {
		page = localePage()
	}
	configured, known := pageCodec(page)
	wide, isWide := configured.(utf16Codec)
	switch {
	case isWide && nul && clean(wide, e):
		return wide
	case bad == 0, !known, configured == utf8Codec{}:
		return utf8Codec{}
	}
	// Real text in a code page has few accidental UTF-8 sequences; damaged UTF-8 has many intended ones.
	if valid <= bad && clean(configured, e) {
		return configured
	}
	return mixedCodec{configured}
}

// clean reports whether both ends decode with c without loss, except for a character they end in.
func clean(c codec, e ends) bool {
	if _, bad, _ := c.decode(e.head); bad > 0 {
		return false
	}
	_, bad, _ := c.decode(e.tail[c.skip(e.tail, e.tailAt):])
	return bad == 0
}

// weighUTF8 counts the multi-byte characters and the invalid parts of both ends; without invalid parts it does not count.
func weighUTF8(e ends) (valid, bad int) {
	tail := e.tail[utf8Codec{}.skip(e.tail, e.tailAt):]
	if utf8.Valid(e.head) && utf8.Valid(tail) {
		return 0, 0
	}
	valid, bad = weighPart(e.head)
	v, b := weighPart(tail)
	return valid + v, bad + b
}

// weighPart counts the multi-byte characters and the invalid parts of b. One that b ends in is not counted.
func weighPart(b []byte) (valid, bad int) {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r != utf8.RuneError || n > 1:
			if n > 1 {
				valid++
			}
		default:
			var partial bool
			n, partial = invalidPart(b)
			if !partial {
				bad++
			}
		}
		b = b[n:]
	}
	return valid, bad
}

// looksUTF16LE recognises little-endian UTF-16 without a mark, as some Windows programs write it to pipes. It wants a
// good part of printable ASCII and either a line break or some length, because a few NUL-separated names look alike.
func looksUTF16LE(b []byte) bool {
	n := min(len(b), 1024) / 2
	ascii, lowZero, breaks := 0, 0, 0
	for i := range n {
		lo, hi := b[2*i], b[2*i+1]
		switch {
		case hi != 0 && lo == 0:
			lowZero++
		case hi != 0:
		case lo == '\n' || lo == '\r':
			breaks++
			ascii++
		case lo == '\t' || lo >= ' ' && lo <= '~':
			ascii++
		default:
			return false
		}
	}
	return n >= 4 && ascii*4 >= n && lowZero*8 <= n && (breaks > 0 || n >= 16)
}

type utf8Codec struct{}

func (utf8Codec) decode(b []byte) (string, int, int) {
	if utf8.Valid(b) {
		return string(b), 0, 0
	}
	var text strings.Builder
	text.Grow(len(b))
	bad := 0
	for len(b) > 0 {
		if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
			text.Write(b[:n])
			b = b[n:]
			continue
		}
		n, partial := invalidPart(b)
		if partial {
			return text.String(), bad, n
		}
		text.WriteString(replacement)
		bad++
		b = b[n:]
	}
	return text.String(), bad, 0
}

func (utf8Codec) skip(b []byte, at int64) int {
	n := 0
	for n < len(b) && n < utf8.UTFMax-1 && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}

func (utf8Codec) chars(t tally) int64 { return t.starts }

// invalidPart returns the length of the maximal invalid part at the start of b, and whether b merely ends before the
// character does. b does not start with a valid character and is not empty.
func invalidPart(b []byte) (n int, partial bool) {
	lo, hi, want := byte(0x80), byte(0xBF), 0
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		want = 2
	case c >= 0xE0 && c <= 0xEF:
		want = 3
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED { // beyond are surrogates
			hi = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		want = 4
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	default:
		return 1, false
	}
	for n = 1; n < want; n++ {
		if n == len(b) {
			return n, true
		}
		if b[n] < lo || b[n] > hi {
			return n, false
		}
		lo, hi = 0x80, 0xBF
	}
	return n, false
}

type utf16Codec struct{ big bool }

func (c utf16Codec) unit(b []byte) rune {
	if c.big {
		return rune(b[0])<<8 | rune(b[1])
	}
	return rune(b[1])<<8 | rune(b[0])
}

// trimMark drops the byte order mark.
func (c utf16Codec) trimMark(b []byte) []byte {
	if len(b) >= 2 && c.unit(b) == 0xFEFF {
		return b[2:]
	}
	return b
}

func (c utf16Codec) decode(b []byte) (string, int, int) {
	var text strings.Builder
	text.Grow(len(b))
	bad := 0
	for len(b) >= 2 {
		r := c.unit(b)
		n := 2
		if utf16.IsSurrogate(r) {
			if len(b) < 4 && r < 0xDC00 {
				break
			}
			pair := rune(utf8.RuneError)
			if len(b) >= 4 {
				pair = utf16.DecodeRune(r, c.unit(b[2:]))
			}
			if r = pair; r == utf8.RuneError {
				bad++
			} else {
				n = 4
			}
		}
		text.WriteRune(r)
		b = b[n:]
	}
	return text.String(), bad, len(b)
}

func (c utf16Codec) skip(b []byte, at int64) int {
	n := int(at % 2)
	if len(b) >= n+2 {
		if r := c.unit(b[n:]); r >= 0xDC00 && r <= 0xDFFF {
			n += 2
		}
	}
	return min(n, len(b))
}

func (utf16Codec) chars(t tally) int64 { return t.bytes / 2 }

// tableCodec is a code page of x/text.
type tableCodec struct {
	enc    encoding.Encoding
	double bool // characters above ASCII have two bytes (GB18030: two or four)
}

func (c tableCodec) decode(b []byte) (string, int, int) {
	dec := c.enc.NewDecoder().Transformer
	dst := make([]byte, 3*len(b)+utf8.UTFMax) // no byte of a code page becomes more than three
	nDst, nSrc, err := dec.Transform(dst, b, false)
	rest := 0
	if errors.Is(err, transform.ErrShortSrc) {
		rest = len(b) - nSrc
	}
	text := string(dst[:nDst])
	return text, strings.Count(text, replacement), rest
}

// skip finds a byte that is never the second of a character (all below '0' are safe in every page here) and takes the
// alignment from which the run before it decodes exactly.
func (c tableCodec) skip(b []byte, _ int64) int {
	if !c.double {
		return 0
	}
	run := bytes.IndexFunc(b, func(r rune) bool { return r < '0' })
	if run < 0 {
		run = len(b)
	}
	for n := 0; n < 4 && n < run; n++ {
		if _, bad, rest := c.decode(b[n:run]); bad == 0 && rest == 0 {
			return n
		}
	}
	return run
}

func (c tableCodec) chars(t tally) int64 {
	if c.double {
		return t.bytes - t.high/2
	}
	return t.bytes
}

// mixedCodec reads a stream that is not of one encoding, line by line.
type mixedCodec struct{ page codec }

func (c mixedCodec) decode(b []byte) (string, int, int) {
	var text strings.Builder
	bad, rest := 0, 0
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line = b[:i+1]
		}
		b = b[len(line):]
		s, n, r := c.line(line, len(b) == 0)
		text.WriteString(s)
		bad, rest = bad+n, r
	}
	return text.String(), bad, rest
}

// line decodes one line; only the last one can end within a character.
func (c mixedCodec) line(line []byte, last bool) (string, int, int) {
	text, bad, rest := utf8Codec{}.decode(line)
	if valid, _ := weighPart(line); bad > valid {
		if s, n, r := c.page.decode(line); n == 0 && (r == 0 || last) {
			return s, n, r
		}
	}
	return text, bad, rest
}

func (c mixedCodec) skip(b []byte, at int64) int {
	line := b
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		line = b[:i+1]
	}
	n := utf8Codec{}.skip(line, at)
	if _, bad, _ := (utf8Codec{}).decode(line[n:]); bad == 0 {
		return n
	}
	return c.page.skip(line, at)
}

func (mixedCodec) chars(t tally) int64 { return t.starts }

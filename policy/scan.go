package policy

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode/utf8"
)

const (
	// MaxBytes is the longest text that Parse reads.
	MaxBytes = 128_000
	// maxFrames bounds the parser's recursion, in stack frames: about a hundred nested constructs.
	maxFrames = 1000
	// maxNodes bounds statements and words in one text, those that brace expansion makes included.
	maxNodes = 60_000
)

// scan refuses what must not reach a parser: length, encoding, and characters that shells, parsers and people read
// differently.
func scan(text string) error {
	if len(text) > MaxBytes {
		return &RefusedError{Code: "policy.too_long", Pos: posAt(text, MaxBytes), Args: []any{MaxBytes}}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if code := charCode(r, size); code != "" {
			return &RefusedError{Code: code, Pos: posAt(text, i), Args: []any{fmt.Sprintf("U+%04X", r)}}
		}
		i += size
	}
	return nil
}

// charCode names why a character is refused, "" when it is fine. The joiners U+200C and U+200D stay: scripts and
// emoji need them.
func charCode(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "policy.not_utf8"
	case r == 0:
		return "policy.char_nul"
	case r == '\r':
		return "policy.char_cr"
	case r < ' ' || r >= 0x7f && r <= 0x9f:
		return "policy.char_control"
	case r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
		return "policy.char_bidi"
	case r == 0x00ad || r == 0x180e || r == 0x200b || r == 0xfeff || r == 0x2028 || r == 0x2029,
		r >= 0x2060 && r <= 0x2064, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f:
		return "policy.char_invisible"
	}
	return ""
}

// source feeds a text to the parser and watches how deep the parser is each time it asks for more. A stack overflow
// cannot be recovered from, and no count of brackets beforehand knows what quotes and here-documents hide.
type source struct {
	rest string
	base int // frames below the parser
	asks int
}

func newSource(text string) *source {
	s := &source{rest: text}
	if len(text) > 256 {
		var pcs [512]uintptr
		s.base = runtime.Callers(0, pcs[:])
	}
	return s
}

type deepError struct{}

func (deepError) Error() string { return "nested too deeply" }

func (s *source) Read(p []byte) (int, error) {
	if s.asks++; s.asks > 1 && s.base > 0 {
		var pc [1]uintptr
		if runtime.Callers(s.base+maxFrames, pc[:]) > 0 {
			return 0, deepError{}
		}
	}
	if s.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// oddNewline reports a backslash-newline that shells and the parser are known to read differently: between a dollar
// sign and what it introduces.
func oddNewline(text string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "$\\\n")
		if !found {
			return false
		}
		next := strings.TrimLeft(strings.ReplaceAll(after, "\\\n", ""), "\\")
		if next != "" && strings.ContainsRune("({['\"", rune(next[0])) {
			return true
		}
		rest = after
	}
}

package readable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	esc = 0x1b
	// maxString bounds the text of an operating system command and its like: a lone beginning must not swallow what follows.
	maxString = 4096
	maxParams = 64
	// maxColumns is how far a line can be moved in; beyond it, movements are ignored.
	maxColumns = 4096
)

// Text resolves what a terminal resolves within a line: a carriage return goes back and what follows overwrites, so does a
// backspace; sequences that erase or move within the line do that; all other sequences disappear. A sequence without its end
// disappears too. CR LF is a newline, and so are vertical tab and form feed. Other control characters are shown as their
// pictures (␇), those beyond ASCII and what reorders text as \u{202E}.
func Text(s string) string {
	if plain(s) {
		return s
	}
	w := &writer{}
	w.out.Grow(len(s))
	for s != "" {
		s = s[w.next(s):]
	}
	w.flush()
	return w.out.String()
}

// plain reports text in which there is nothing to resolve.
func plain(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return false
		case c < utf8.RuneSelf:
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r < 0xa0 || reorders(r) {
			return false
		}
		i += n
	}
	return true
}

// reorders reports characters that make text look like other text.
func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x61c
}

// writer is the line that is being written.
type writer struct {
	out  strings.Builder
	line []rune
	col  int
}

// next takes the first character or sequence of s and returns its length.
func (w *writer) next(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == '\n', r == '\v', r == '\f':
		w.newline()
	case r == '\r' && strings.HasPrefix(s[n:], "\n"):
		w.newline()
		n++
	case r == '\r':
		w.col = 0
	case r == '\b':
		w.col = max(0, w.col-1)
	case r == esc:
		return w.escape(s)
	case r >= 0x80 && r < 0xa0:
		return n + w.control(byte(r-0x40), s[n:], string(r))
	case r == utf8.RuneError && n == 1:
		w.put(utf8.RuneError)
	case r != '\t' && r < ' ':
		w.put('␀' + r)
	case r == 0x7f:
		w.put('␡')
	case reorders(r):
		w.text(fmt.Sprintf(`\u{%X}`, r))
	default:
		w.put(r)
	}
	return n
}

// escape takes a sequence that begins with an escape.
func (w *writer) escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch c := s[1]; {
	case c >= 0x40 && c <= 0x5f:
		return 2 + w.control(c, s[2:], "␛"+string(rune(c)))
	case c >= 0x20 && c <= 0x2f: // with intermediates, such as the choice of a character set
		n := 2
		for n < len(s) && n < maxParams && s[n] >= 0x20 && s[n] <= 0x2f {
			n++
		}
		return min(n+1, len(s))
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1 // no sequence: the escape alone shows nothing
}

// control takes the rest of a sequence that was begun by escape and c; begin is how its beginning is shown if it is none.
func (w *writer) control(c byte, rest, begin string) int {
	switch c {
	case '[':
		return w.csi(rest)
	case ']', 'P', 'X', '^', '_':
		return w.str(rest, begin)
	}
	return 0
}

// csi takes parameters and a final byte.
func (w *writer) csi(s string) int {
	n := 0
	for n < len(s) && n < maxParams && s[n] >= 0x20 && s[n] <= 0x3f {
		n++
	}
	if n == len(s) {
		return n
	}
	if final := s[n]; final >= 0x40 && final <= 0x7e {
		w.do(s[:n], final)
		n++
	}
	return n
}

// do performs what stays within the line.
func (w *writer) do(params string, final byte) {
	count, err := strconv.Atoi(params)
	if params != "" && err != nil || count < 0 || len(w.line) > maxColumns { // no screen is that wide, and each would take as long as the line
		return
	}
	steps := max(1, count)
	switch final {
	case 'K':
		w.erase(count)
	case 'C':
		w.move(w.col + steps)
	case 'D':
		w.move(w.col - steps)
	case 'G', '`':
		w.move(steps - 1)
	case 'P':
		if w.col < len(w.line) {
			w.line = append(w.line[:w.col], w.line[min(w.col+steps, len(w.line)):]...)
		}
	}
}

func (w *writer) move(col int) {
	if col <= maxColumns {
		w.col = max(0, col)
	}
}

// erase clears from the cursor (0), up to it (1), or all (2) of the line.
func (w *writer) erase(what int) {
	switch what {
	case 0:
		w.line = w.line[:min(w.col, len(w.line))]
	case 1:
		for i := range min(w.col+1, len(w.line)) {
			w.line[i] = ' '
		}
	case 2:
		w.line = w.line[:0]
	}
}

// str drops a string up to its terminator: BEL, ESC \ or its one-byte form. One that has none is no string.
func (w *writer) str(s, begin string) int {
	for i := 0; i < len(s) && i < maxString; i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == esc && i+1 < len(s) && s[i+1] == '\\', s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		case s[i] == '\n':
			i = maxString // none of them goes over a line
		}
	}
	if len(s) < maxString && !strings.Contains(s, "\n") {
		return len(s) // cut off where the output ends
	}
	if strings.HasPrefix(begin, "␛") {
		w.text(begin)
	}
	return 0
}

func (w *writer) text(s string) {
	for _, r := range s {
		w.put(r)
	}
}

// put writes a character over what stands at the cursor. What modifies the one before it joins that.
func (w *writer) put(r rune) {
	for len(w.line) < w.col {
		w.line = append(w.line, ' ')
	}
	switch {
	case w.col == len(w.line):
		w.line = append(w.line, r)
	case unicode.Is(unicode.Mn, r) && len(w.line) <= maxColumns:
		w.line = append(w.line[:w.col], append([]rune{r}, w.line[w.col:]...)...)
	default:
		w.line[w.col] = r
	}
	w.col++
}

func (w *writer) newline() {
	w.flush()
	w.out.WriteByte('\n')
}

func (w *writer) flush() {
	for _, r := range w.line {
		w.out.WriteRune(r)
	}
	w.line, w.col = w.line[:0], 0
}

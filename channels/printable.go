package channels

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes text safe to write to a terminal: every control character other than newline and tab, every byte that is
// not UTF-8, and what makes a terminal show text in another order than it has, is written out as \x1b or \u202e. CR LF
// becomes LF. What cannot move the cursor or talk to the terminal stays as it is. Printable(Printable(s)) == Printable(s).
func Printable(s string) string {
	return escape(strings.ReplaceAll(s, "\r\n", "\n"), func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.IsControl(r) || reorders(r)
	})
}

// reorders reports embeddings, overrides and isolates. Letters that are written from right to left need none of them.
func reorders(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// Reveal is Printable for text that a person is about to decide on: characters that show as nothing or that reorder
// what is around them (bidirectional controls, zero-width and other format characters, odd spaces, private use,
// unassigned) are written out too, a carriage return included. changed tells that something was.
func Reveal(s string) (text string, changed bool) {
	text = escape(s, func(r rune) bool {
		return r != '\n' && r != '\t' && unseen(r)
	})
	return text, text != s
}

// RevealLine is Reveal for what must stay on one line: newlines and tabs are written out as well.
func RevealLine(s string) string {
	return escape(s, unseen)
}

// unseen reports whether a character is not what a reader takes for one: IsPrint alone lets through letters and marks
// that show as nothing (fillers, variation selectors, the blank braille pattern).
func unseen(r rune) bool {
	return !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escape(s string, hidden func(rune) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hidden(r):
			b.WriteString(s[i : i+n])
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

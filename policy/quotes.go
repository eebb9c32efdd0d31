package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansiC decodes the inside of bash's $'...'. A NUL ends the string, as it does there.
func ansiC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, used := ansiEscape(s[i+1:])
		if text == "\x00" {
			break
		}
		b.WriteString(text)
		i += 1 + used
	}
	return b.String()
}

// ansiEscape decodes what follows a backslash and says how many bytes it took.
func ansiEscape(s string) (string, int) {
	const simple, values = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"
	if i := strings.IndexByte(simple, s[0]); i >= 0 {
		return values[i : i+1], 1
	}
	switch s[0] {
	case 'x':
		if n, used := digits(s[1:], 16, 2); used > 0 {
			return string([]byte{byte(n)}), 1 + used
		}
	case 'u', 'U':
		width := 4
		if s[0] == 'U' {
			width = 8
		}
		if n, used := digits(s[1:], 16, width); used > 0 {
			return string(utf8.AppendRune(nil, rune(min(n, utf8.MaxRune+1)))), 1 + used
		}
	case 'c':
		if len(s) > 1 {
			return string([]byte{s[1] & 0x1f}), 2
		}
	default:
		if n, used := digits(s, 8, 3); used > 0 {
			return string([]byte{byte(n)}), used
		}
	}
	return `\` + s[:1], 1
}

// digits reads at most width digits of the base.
func digits(s string, base, width int) (uint64, int) {
	n := 0
	for n < len(s) && n < width {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	v, err := strconv.ParseUint(s[:n], base, 64)
	if err != nil {
		return 0, 0
	}
	return v, n
}

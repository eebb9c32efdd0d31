package tools

import "unicode/utf8"

// invalidUTF8 is the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// loneSurrogate finds a \uD800 to \uDFFF escape without its other half in JSON text. The decoder of the standard
// library would replace it in silence, and then something else than was asked for would run.
func loneSurrogate(b []byte) (offset int, found bool) {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		unit := escapedUnit(b[i:])
		switch {
		case unit < 0:
			i++ // the escaped character, which may be a backslash
		case unit >= 0xD800 && unit <= 0xDBFF:
			if low := escapedUnit(b[i+6:]); low < 0xDC00 || low > 0xDFFF {
				return i, true
			}
			i += 11
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return i, true
		default:
			i += 5
		}
	}
	return 0, false
}

// escapedUnit is the value of the \uXXXX that b starts with, or -1.
func escapedUnit(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	v := 0
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 + int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 + int(c|0x20-'a') + 10
		default:
			return -1
		}
	}
	return v
}

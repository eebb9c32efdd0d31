package readable

import (
	"bytes"
	"unicode/utf8"
)

// sample is how much of the beginning Binary looks at, in bytes.
const sample = 8 << 10

// magics are the beginnings of well-known kinds of files that are no text.
func magics() []struct{ begin, kind string } {
	return []struct{ begin, kind string }{
		{"\x7fELF", "ELF"}, {"\x1f\x8b", "gzip"}, {"PK\x03\x04", "zip"}, {"\x89PNG\r\n\x1a\n", "PNG"}, {"\xff\xd8\xff", "JPEG"},
		{"GIF87a", "GIF"}, {"GIF89a", "GIF"}, {"BZh", "bzip2"}, {"\xfd7zXZ\x00", "xz"}, {"(\xb5/\xfd", "zstd"}, {"7z\xbc\xaf'\x1c", "7z"},
		{"SQLite format 3\x00", "SQLite"}, {"\xca\xfe\xba\xbe", "Mach-O or Java class"}, {"\xcf\xfa\xed\xfe", "Mach-O"}, {"MZ", "Windows program"},
		{"\x00asm", "WebAssembly"}, {"!<arch>\n", "ar archive"}, {"OggS", "Ogg"}, {"RIFF", "RIFF"}, {"fLaC", "FLAC"},
	}
}

// Binary reports whether output that begins with p is no text that a person or a model could read, and what it is when that
// can be told (else ""). Text in any of the usual encodings is none of that: it has few control characters, whether or not it
// is UTF-8, and UTF-16 has its NULs on every other place.
func Binary(p []byte) (is bool, kind string) {
	p = p[:min(len(p), sample)]
	strange := strangeness(p)
	for _, m := range magics() {
		// A text may begin with BZh or MZ.
		if bytes.HasPrefix(p, []byte(m.begin)) && (strange > 0 || !utf8.Valid(whole(p))) {
			return true, m.kind
		}
	}
	return len(p) >= 64 && strange*20 > len(p) && !utf16(p), ""
}

// strangeness counts the bytes that no text has: control characters but those of lines, tabs and terminals.
func strangeness(p []byte) int {
	n := 0
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\b' && c != '\f' && c != '\v' && c != '\a' && c != esc || c == 0x7f {
			n++
		}
	}
	return n
}

// whole is p without a character that is cut off at its end.
func whole(p []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if tail := p[len(p)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// utf16 reports text whose NULs are the halves of characters: nearly all on one kind of places, many of them.
func utf16(p []byte) bool {
	var zeros [2]int
	for i, c := range p {
		if c == 0 {
			zeros[i%2]++
		}
	}
	most, least := max(zeros[0], zeros[1]), min(zeros[0], zeros[1])
	return most*4 > len(p) && least*20 < most || bytes.HasPrefix(p, []byte("\xff\xfe")) || bytes.HasPrefix(p, []byte("\xfe\xff"))
}

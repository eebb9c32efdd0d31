package readable

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/encoding/simplifiedchinese"
)

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":             {"a b\tc\n你好 é\n", "a b\tc\n你好 é\n"},
		"colours":           {"\x1b[1;31mred\x1b[0m \x1b[?25lx\x1b[?25h\n", "red x\n"},
		"colon parameters":  {"\x1b[38:2::1:2:3mx\x1b[m", "x"},
		"line ends":         {"a\r\nb\r\n", "a\nb\n"},
		"progress":          {"progress 1%\rprogress 50%\rprogress 100%\n", "progress 100%\n"},
		"shorter over it":   {"progress 100%\rok\n", "okogress 100%\n"},
		"erased first":      {"progress 100%\r\x1b[Kok\n", "ok\n"},
		"erase all":         {"abc\x1b[2Kx\n", "   x\n"},
		"erase to cursor":   {"abc\x1b[1D\x1b[1K\n", "   \n"},
		"return at the end": {"50%\r", "50%"},
		"backspace":         {"ab\bc\n", "ac\n"},
		"spinner":           {"|\b/\b-\b\\\bdone\n", "done\n"},
		"bold and underl.":  {"N\bNA\bA _\bx_\by\n", "NA xy\n"},
		"wiped":             {"abc\b \b\b \b\n", "a  \n"},
		"moves":             {"\x1b[5Cx\x1b[3Dy\x1b[1Gz\n", "z  y x\n"},
		"delete characters": {"abcdef\r\x1b[2P\n", "cdef\n"},
		"far away":          {"\x1b[999999999Cx\n", "x\n"},
		"title":             {"\x1b]0;evil\x07x\x1b]8;;http://h\x1b\\link\x1b]8;;\x1b\\\n", "xlink\n"},
		"clipboard":         {"\x1b]52;c;AAAA\x07x", "x"},
		"device string":     {"\x1bP1$r\x1b\\x\x1b_k\x1b\\y\x1b^p\x1b\\z", "xyz"},
		"one-byte forms":    {"\u009b31mx\u009d0;t\u009cy", "xy"},
		"character sets":    {"\x1b(B\x1b)0x\x1b=y\x1b>z\x1b7\x1b8\x1bc", "xyz"},
		"cut off":           {"x\x1b[", "x"},
		"cut off 2":         {"x\x1b", "x"},
		"cut off 3":         {"x\x1b[38;5", "x"},
		"cut off 4":         {"x\x1b]0;tit", "x"},
		"no sequence":       {"x\x1b\ny", "x\ny"},
		"bad sequence":      {"x\x1b[3\ny", "x\ny"},
		"string of lines":   {"x\x1b]0;a\nb\nc", "x␛]0;a\nb\nc"},
		"endless string":    {"x\x1b]" + strings.Repeat("y", maxString) + "z", "x␛]" + strings.Repeat("y", maxString) + "z"},
		"controls":          {"a\x00b\x07c\x7f\n", "a␀b␇c␡\n"},
		"form feed":         {"a\fb\vc", "a\nb\nc"},
		"bidi":              {"a\u202eb\u2066c", `a\u{202E}b\u{2066}c`},
		"invalid":           {"a\xff\x1b[mb", "a\uFFFDb"},
		"wide overwritten":  {"你好\r您\n", "您好\n"},
		"combining":         {"e\u0301x\ra\n", "a\u0301x\n"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var flood strings.Builder
	for i := range 5000 {
		flood.WriteString("\rprogress " + strings.Repeat("#", i%50) + strings.Repeat(" ", 50-i%50))
	}
	if got := Text(flood.String() + "\n"); strings.Count(got, "progress") != 1 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"\x1b[31mx\x1b]0;t\x07\r\b", "你\ra\u0301", "\x1b[5C\x1b[1K", "\u009b\u009d\xc2", "\x1bP\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if again := Text(once); again != once {
			t.Errorf("%q became %q, then %q", s, once, again)
		}
		for _, r := range once {
			if r != '\n' && r != '\t' && unicode.IsControl(r) || reorders(r) {
				t.Errorf("%q in the text of %q", r, s)
			}
		}
		if len(once) > 8*len(s)+maxColumns*(1+strings.Count(s, "C")+strings.Count(s, "G")+strings.Count(s, "`")) {
			t.Errorf("%d bytes became %d", len(s), len(once))
		}
		Binary([]byte(s))
	})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("some text"))
	_ = z.Close()
	random := make([]byte, 5000)
	for i := range random {
		random[i] = byte(rand.IntN(256)) //nolint:gosec // any bytes do
	}
	gbk, err := simplifiedchinese.GBK.NewEncoder().Bytes([]byte(strings.Repeat("中文输出\n", 50)))
	if err != nil {
		t.Fatal(err)
	}
	wide := []byte(strings.Join(strings.Split(strings.Repeat("plain text\n", 20), ""), "\x00") + "\x00")
	for name, c := range map[string]struct {
		in   []byte
		is   bool
		kind string
	}{
		"program": {program, true, ""}, "gzip": {zipped.Bytes(), true, "gzip"}, "random": {random, true, ""}, "zeros": {make([]byte, 1000), true, ""},
		"png":  {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), true, "PNG"},
		"text": {[]byte("hello\n"), false, ""}, "empty": {nil, false, ""}, "one NUL": {[]byte("a\x00b\n"), false, ""},
		"MZ as text": {[]byte("MZ is a word\n"), false, ""}, "names with NULs": {[]byte(strings.Repeat("some/file/name.txt\x00", 100)), true, ""},
		"gbk": {gbk, false, ""}, "utf-16": {wide, false, ""}, "latin-1": {[]byte(strings.Repeat("caf\xe9 ", 100)), false, ""},
		"coloured": {[]byte(strings.Repeat("\x1b[31mx\x1b[0m\b", 100)), false, ""}, "cut utf-8": {[]byte(strings.Repeat("你", sample)), false, ""},
	} {
		is, kind := Binary(c.in)
		if is != c.is || c.kind != "" && kind != c.kind {
			t.Errorf("%s: %v %q", name, is, kind)
		}
	}
}

func BenchmarkText(b *testing.B) {
	for name, s := range map[string]string{
		"plain": strings.Repeat("an ordinary line of output\n", 4000), "coloured": strings.Repeat("\x1b[32man ordinary line\x1b[0m of output\n", 3000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Text(s)
			}
		})
	}
}

// Whatever comes, time is in proportion to it.
func TestTextIsNotSlow(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"\x1b[P", "\x1b[1K", "\u0301", "\x1b[C", "\b", "\x1b]", "\x1bP", "\x1b[2K\x1b[4000C."} {
		begun := time.Now()
		Text(strings.Repeat("x", 300_000) + "\r" + strings.Repeat(piece, 300_000))
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%q: %v", piece, took)
		}
	}
}

package executor

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// encode writes text in another encoding.
func encode(t testing.TB, enc encoding.Encoding, text string) string {
	t.Helper()
	b, err := enc.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeWhole(t *testing.T) {
	t.Parallel()
	wide := func(text string, mark unicode.BOMPolicy) string {
		return encode(t, unicode.UTF16(unicode.LittleEndian, mark), text)
	}
	gbk := encode(t, simplifiedchinese.GBK, "目录 C:\\ 的总数\r\n")
	for _, test := range []struct{ name, in, page, want string }{
		{"empty", "", "gbk", ""},
		{"ascii", "hi\r\n", "gbk", "hi\r\n"},
		{"utf-8", "中文 é 😀", "gbk", "中文 é 😀"},
		{"utf-8 mark kept", "\xEF\xBB\xBFx", "", "\uFEFFx"},
		{"utf-8 cut at the end stays utf-8", "中文abc\xE4\xBD", "gbk", "中文abc\uFFFD"},
		{"utf-8 with a flaw stays utf-8", "中文字\xFF中文\n", "cp437", "中文字\uFFFD中文\n"},
		{"maximal parts", "a\xF0\x9F\x98b\xE4\xBDc\xC0\xAF\xED\xA0\x80\xF4\x90", "utf-8",
			"a\uFFFDb\uFFFDc\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"NUL shown", "a\x00b\n", "", "a\u2400b\n"},
		{"short names with NUL are not utf-16", "a\x00b\x00c\x00d\x00", "", "a\u2400b\u2400c\u2400d\u2400"},
		{"gbk", gbk, "gbk", "目录 C:\\ 的总数\r\n"},
		{"gbk by number", gbk, "cp936", "目录 C:\\ 的总数\r\n"},
		{"gbk cut at the end", gbk + "\xC4", "936", "目录 C:\\ 的总数\r\n\uFFFD"},
		{"gb18030 four bytes", encode(t, simplifiedchinese.GB18030, "𠀀中é"), "gb18030", "𠀀中é"},
		{"big5", encode(t, traditionalchinese.Big5, "目錄功許"), "big5", "目錄功許"},
		{"shift_jis", encode(t, japanese.ShiftJIS, "表示ソフト ｱｲｳ"), "shift_jis", "表示ソフト ｱｲｳ"},
		{"euc-jp", encode(t, japanese.EUCJP, "表示ソフト"), "EUC-JP", "表示ソフト"},
		{"euc-kr", encode(t, korean.EUCKR, "디렉터리"), "euc-kr", "디렉터리"},
		{"oem 437", encode(t, charmap.CodePage437, "Größe: 1½ µm"), "cp437", "Größe: 1½ µm"},
		{"windows-1252", encode(t, charmap.Windows1252, "Größe €"), "windows-1252", "Größe €"},
		{"utf-16 with a mark", wide("中文 x\r\n", unicode.UseBOM), "", "中文 x\r\n"},
		{"utf-16 big-endian with a mark", encode(t, unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "中 😀"), "", "中 😀"},
		{"utf-16 without a mark", wide("Path 路径\r\n", unicode.IgnoreBOM), "", "Path 路径\r\n"},
		{"utf-16 as configured", wide("中文", unicode.IgnoreBOM), "utf-16le", "中文"},
		{"utf-16 lone surrogate", "\xFF\xFEa\x00\x3D\xD8b\x00\x00\xDC", "", "a\uFFFDb\uFFFD"},
		{"utf-16 odd end", "\xFF\xFEa\x00b", "", "a\uFFFD"},
		{"mixed lines", "中文字\n" + gbk + "ok \xFF\n", "gbk", "中文字\n目录 C:\\ 的总数\r\nok \uFFFD\n"},
		{"no code page", "\xB4\xED\xCE\xF3\n", "utf-8", "\uFFFD\uFFFD\uFFFD\uFFFD\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, _, _, _ := decodeEnds(ends{head: []byte(test.in)}, test.page)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestDecodeTail cuts encoded text at every byte: the tail must begin with a whole character of the text.
func TestDecodeTail(t *testing.T) {
	t.Parallel()
	text := "中文目录あ的总数" + strings.Repeat("错误信息", 8) + " end\n的总数\n"
	for page, enc := range map[string]encoding.Encoding{
		"utf-8": encoding.Nop, "gbk": simplifiedchinese.GBK, "gb18030": simplifiedchinese.GB18030,
		"utf-16le": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	} {
		whole := encode(t, enc, text)
		for at := 2; at < len(whole); at++ {
			e := ends{head: []byte(whole[:at-1]), tail: []byte(whole[at:]), tailAt: int64(at), cut: true}
			head, tail, _, _ := decodeEnds(e, page)
			if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
				t.Fatalf("%s at %d: head %q tail %q", page, at, head, tail)
			}
		}
	}
}

func TestParseCodePage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "gbk", "GB18030", "big5", "Shift_JIS", "euc-kr", "utf-16le", "cp936", "CP932", "437",
		"windows-1252", "iso-8859-15", "latin1", "utf8", "65001", "koi8-r", "x-sjis"} {
		if err := ParseCodePage(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"klingon", "cp", "0", "cp99999999999", "iso-8859-77", "-1", "cp708x"} {
		if ParseCodePage(name) == nil {
			t.Errorf("%q is not refused", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "中文\xE4\xBD", "\xFF\xFEa\x00", "a\x00b\x00\n\x00c\x00", "\xC4\xE3\xBA\xC3", "\x00\xED\xA0\x80"} {
		f.Add([]byte(seed), uint8(0))
	}
	pages := []string{"utf-8", "gbk", "gb18030", "big5", "cp932", "euc-kr", "euc-jp", "utf-16le", "cp437", "cp1252"}
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		got, _, _, c := decodeEnds(ends{head: b}, pages[int(n)%len(pages)])
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") {
			t.Fatalf("%q", got)
		}
		if utf8.Valid(b) && c == (utf8Codec{}) && got != strings.ReplaceAll(string(b), "\x00", "␀") {
			t.Fatalf("valid UTF-8 changed: %q", got)
		}
		if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 && c != (utf8Codec{}) {
			t.Fatalf("UTF-8 read as %T", c)
		}
	})
}

package executor

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// ParseCodePage checks the name of a code page: an IANA name ("gbk", "shift_jis", "windows-1252", "iso-8859-15"), a
// Windows number with or without "cp" ("cp936", "437"), or empty for the locale's own. Case, "-" and "_" do not matter.
func ParseCodePage(name string) error {
	if strings.TrimSpace(name) == "" {
		return nil
	}
	if _, ok := pageCodec(name); !ok {
		return fmt.Errorf("unknown code page %q", name)
	}
	return nil
}

// pageCodec returns the codec of a code page name. An empty name is not one.
func pageCodec(name string) (codec, bool) {
	number := pageNumber(name)
	switch number {
	case 65001, 20127:
		return utf8Codec{}, true
	case 1200:
		return utf16Codec{}, true
	case 1201:
		return utf16Codec{big: true}, true
	}
	if enc := doublePage(number); enc != nil {
		return tableCodec{enc: enc, double: true}, true
	}
	if enc := singlePage(number); enc != nil {
		return tableCodec{enc: enc}, true
	}
	return nil, false
}

// pageNumber returns the Windows number of a code page, 0 for an unknown name.
func pageNumber(name string) int {
	s := strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(strings.TrimSpace(name)))
	s = strings.TrimPrefix(s, "x")
	switch s {
	case "utf8", "unicode11utf8":
		return 65001
	case "ascii", "usascii", "ansix341968", "c", "posix":
		return 20127
	case "utf16", "utf16le", "ucs2":
		return 1200
	case "utf16be":
		return 1201
	case "gbk", "gb2312", "euccn", "gb231280":
		return 936
	case "gb18030":
		return 54936
	case "big5", "big5hkscs":
		return 950
	case "shiftjis", "sjis", "mskanji":
		return 932
	case "eucjp":
		return 51932
	case "euckr", "uhc", "ksc5601", "ksc56011987":
		return 949
	case "koi8r":
		return 20866
	case "koi8u":
		return 21866
	case "macintosh", "macroman":
		return 10000
	case "latin1":
		return 28591
	}
	if part, ok := strings.CutPrefix(s, "iso8859"); ok {
		if n := decimal(part); n >= 1 && n <= 16 {
			return 28590 + n
		}
		return 0
	}
	for _, prefix := range []string{"windows", "cp", "ibm", "ms"} {
		if part, ok := strings.CutPrefix(s, prefix); ok {
			return decimal(part)
		}
	}
	return decimal(s)
}

// decimal reads an unsigned number, 0 when s is none.
func decimal(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// doublePage returns the East Asian encodings.
func doublePage(number int) encoding.Encoding {
	switch number {
	case 936:
		return simplifiedchinese.GBK
	case 54936:
		return simplifiedchinese.GB18030
	case 950, 951:
		return traditionalchinese.Big5
	case 932:
		return japanese.ShiftJIS
	case 20932, 51932:
		return japanese.EUCJP
	case 949, 51949:
		return korean.EUCKR
	}
	return nil
}

// singlePage returns the encodings with one byte per character.
func singlePage(number int) encoding.Encoding {
	for _, p := range []struct {
		number int
		enc    *charmap.Charmap
	}{
		{437, charmap.CodePage437}, {850, charmap.CodePage850}, {852, charmap.CodePage852}, {855, charmap.CodePage855},
		{858, charmap.CodePage858}, {860, charmap.CodePage860}, {862, charmap.CodePage862}, {863, charmap.CodePage863},
		{865, charmap.CodePage865}, {866, charmap.CodePage866}, {874, charmap.Windows874},
		{1250, charmap.Windows1250}, {1251, charmap.Windows1251}, {1252, charmap.Windows1252},
		{1253, charmap.Windows1253}, {1254, charmap.Windows1254}, {1255, charmap.Windows1255},
		{1256, charmap.Windows1256}, {1257, charmap.Windows1257}, {1258, charmap.Windows1258},
		{10000, charmap.Macintosh}, {20866, charmap.KOI8R}, {21866, charmap.KOI8U},
		{28591, charmap.ISO8859_1}, {28592, charmap.ISO8859_2}, {28593, charmap.ISO8859_3},
		{28594, charmap.ISO8859_4}, {28595, charmap.ISO8859_5}, {28596, charmap.ISO8859_6},
		{28597, charmap.ISO8859_7}, {28598, charmap.ISO8859_8}, {28599, charmap.ISO8859_9},
		{28600, charmap.ISO8859_10}, {28603, charmap.ISO8859_13}, {28604, charmap.ISO8859_14},
		{28605, charmap.ISO8859_15}, {28606, charmap.ISO8859_16},
	} {
		if p.number == number {
			return p.enc
		}
	}
	return nil
}

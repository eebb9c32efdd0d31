package screen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// shown writes in to a screen, whole and cut anywhere, and returns what is to be seen.
func shown(t *testing.T, cols, rows int, in string) Snapshot {
	t.Helper()
	whole, bytewise := New(cols, rows), New(cols, rows)
	whole.Write([]byte(in))
	for i := range len(in) {
		bytewise.Write([]byte(in[i : i+1]))
	}
	a, b := whole.Snapshot(), bytewise.Snapshot()
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%q: cut anywhere it is %q, not %q", in, b.Lines, a.Lines)
	}
	return a
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		cols, rows int
		in, want   string
	}{
		{"plain", 10, 3, "one\r\ntwo", "one\ntwo"},
		{"wrap", 5, 3, "abcdefg", "abcde\nfg"},
		{"wrap waits", 5, 3, "abcde\rX", "Xbcde"},
		{"no wrap", 5, 3, "\x1b[?7labcdefg", "abcdg"},
		{"scroll", 5, 2, "1\r\n2\r\n3", "2\n3"},
		{"line feed only", 5, 3, "ab\ncd", "ab\n  cd"},
		{"new line mode", 5, 3, "\x1b[20hab\ncd", "ab\ncd"},
		{"carriage return", 9, 1, "10%\r20%\r30%", "30%"},
		{"backspace", 9, 1, "abc\b\bX", "aXc"},
		{"tab", 20, 1, "a\tb", "a       b"},
		{"tab stops", 20, 1, "\x1b[3g\x1b[5G\x1bH\ra\tb", "a   b"},
		{"back tab", 20, 1, "\tab\x1b[Zx", "        xb"},
		{"colours", 20, 1, "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3m\x1b[4:3mx\x1b[m", "red x"},
		{"cursor", 10, 3, "\x1b[2;3Hx\x1b[Ay\x1b[2Dz", "  zy\n  x"},
		{"far away", 5, 3, "\x1b[99999;99999Hx\x1b[-4;0Hy", "\n    x\ny"},
		{"rows", 5, 3, "\x1b[3dc\x1b[2eX\x1b[1`a", "\n\naX"},
		{"erase below", 5, 3, "aaa\r\nbbb\r\nccc\x1b[2;2H\x1b[J", "aaa\nb"},
		{"erase above", 5, 3, "aaa\r\nbbb\r\nccc\x1b[2;2H\x1b[1Jx", "\n xb\nccc"},
		{"erase above, third row", 5, 3, "aaa\r\nbbb\r\nccc\x1b[3;1H\x1b[1J", "\n\n cc"},
		{"erase all", 5, 3, "aaa\r\nbbb\x1b[2Jx", "\n   x"},
		{"erase saved lines", 5, 3, "aaa\x1b[3J", "aaa"},
		{"erase line", 5, 1, "abcde\x1b[3G\x1b[K", "ab"},
		{"erase line before", 5, 1, "abcde\x1b[3G\x1b[1K", "   de"},
		{"erase characters", 5, 1, "abcde\x1b[2G\x1b[2X", "a  de"},
		{"insert characters", 6, 1, "abcd\x1b[2G\x1b[2@", "a  bcd"},
		{"delete characters", 6, 1, "abcdef\x1b[2G\x1b[2P", "adef"},
		{"too many deleted", 6, 1, "abcdef\x1b[2G\x1b[65535P", "a"},
		{"insert mode", 6, 2, "abc\r\x1b[4hXY\x1b[4lZ", "XYZbc"},
		{"insert mode at the edge", 3, 2, "def\x1b[2Hx\x1b[H\x1b[4habcd", "abc\ndx"},
		{"insert line", 5, 3, "a\r\nb\r\nc\x1b[2H\x1b[L", "a\n\nb"},
		{"delete line", 5, 3, "a\r\nb\r\nc\x1b[H\x1b[M", "b\nc"},
		{"scroll up", 5, 3, "a\r\nb\r\nc\x1b[S", "b\nc"},
		{"scroll down", 5, 3, "a\r\nb\r\nc\x1b[T", "\na\nb"},
		{"region", 5, 5, "1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4H\nx", "1\n3\n4\nx\n5"},
		{"region with reverse index", 5, 4, "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[2H\x1bMx", "1\nx\n2\n4"},
		{"region holds the cursor", 5, 4, "\x1b[2;3r\x1b[2H\x1b[9Bx\x1b[9Ay", "\n y\nx"},
		{"region, outside", 5, 4, "\x1b[2;3r\x1b[4H\nx", "\n\n\nx"},
		{"region, nonsense", 5, 3, "\x1b[3;2r\x1b[9;9rx", "x"},
		{"origin mode", 5, 4, "\x1b[2;3r\x1b[?6h\x1b[Hx\x1b[9Hy\x1b[?6lz", "z\nx\ny"},
		{"save and restore", 9, 2, "ab\x1b7\r\ncd\x1b8X", "abX\ncd"},
		{"save and restore, ANSI", 9, 2, "ab\x1b[s\r\ncd\x1b[uX", "abX\ncd"},
		{"repeat", 9, 1, "ab\x1b[3b", "abbbb"},
		{"rows and the first column", 9, 4, "ab\x1b[2Ecd\x1b[Fe", "ab\ne\ncd"},
		{"repeat after something else", 9, 1, "ab\x1b[2G\x1b[3bc", "ac"},
		{"repeat nothing", 9, 1, "\x1b[3bx", "x"},
		{"repeat, wide", 9, 1, "中\x1b[2b", "中中中"},
		{"line drawing", 9, 1, "\x1b(0lqk\x1b(Bq", "┌─┐q"},
		{"line drawing by shift", 9, 1, "\x1b)0q\x0eq\x0fq", "q─q"},
		{"line drawing is restored", 9, 1, "\x1b7\x1b(0\x1b8q", "q"},
		{"alternate screen", 9, 2, "main\x1b[?1049halt\x1b[?1049lback", "mainback"},
		{"alternate screen has its own saved cursor", 9, 2, "main\x1b[?1049h\x1b[2Hx\x1b7\x1b[?1049lX", "mainX"},
		{"alternate screen begins empty", 9, 2, "\x1b[?1049hold\x1b[?1049l\x1b[?1049h\x1b[Hnew", "new"},
		{"alternate screen left twice", 9, 2, "main\x1b[?1049l\x1b[?1049lX\x1b[?47l", "mainX"},
		{"alternate screen, reset", 9, 2, "main\x1b[?1049halt\x1bcX\x1b[?1049hY", " Y"},
		{"reset", 9, 2, "ab\x1b[2;2r\x1b(0\x1bcq\r\n1\r\n2", "1\n2"},
		{"soft reset", 9, 3, "\x1b[?7l\x1b[4h\x1b[2;3r\x1b[Hab\x1b[!pX", "abX"},
		{"alignment", 3, 2, "\x1b#8", "EEE\nEEE"},
		{"control within a sequence", 9, 2, "ab\x1b[1\r;1Hx", "xb"},
		{"cancelled sequence", 9, 1, "a\x1b[12\x18b", "ab"},
		{"sequence within a sequence", 9, 1, "ab\x1b[12\x1b[1Gx", "xb"},
		{"text within a sequence", 9, 1, "a\x1b[1é", "aé"},
		{"unknown sequences", 9, 1, "a\x1b[>4;2m\x1b[?1u\x1b[=1;2u\x1b[1;2;3;4*y\x1b%Gb\x1b[1$$pc", "abc"},
		{"many parameters", 9, 1, "a\x1b[" + strings.Repeat("1;", 500) + "Hb", "b"},
		{"strings are not shown", 9, 1, "a\x1b]8;;http://x\x07b\x1bPq#0\x1b\\c\x1b_x\x1b\\d\x1b^y\x1b\\e\x1bkz\x1b\\f", "abcdef"},
		{"string given up", 9, 1, "a\x1b]0;x\x18b\x1b]0;y\x1b[Cc", "ab c"},
		{"wide", 6, 2, "中文字符号", "中文字\n符号"},
		{"wide, odd width", 5, 3, "中文字符号", "中文\n字符\n号"},
		{"wide at the last column", 5, 2, "abcd中x", "abcd\n中x"},
		{"wide after a full row", 4, 2, "abcd中", "abcd\n中"},
		{"wide, no wrap", 5, 1, "\x1b[?7labcd中", "abc中"},
		{"wide at the end of the screen", 3, 2, "a\r\nb中文", "b中\n文"},
		{"wide, second half overwritten", 6, 1, "中文\x1b[2Gx", " x文"},
		{"wide, first half overwritten", 6, 1, "中文\x1b[1Gx", "x 文"},
		{"wide, half deleted", 6, 1, "中文\x1b[1G\x1b[P", " 文"},
		{"wide on one column", 1, 2, "中a", "\na"},
		{"wide, insert mode", 6, 1, "ab\r\x1b[4h中", "中ab"},
		{"combining", 6, 2, "e\u0301x", "e\u0301x"},
		{"combining at the edge", 2, 2, "ae\u0301x", "ae\u0301\nx"},
		{"combining, overwritten", 6, 1, "e\u0301x\rab", "ab"},
		{"combining without a base", 6, 1, "\u0301x", "x"},
		{"joined", 9, 1, "\u2764\ufe0fx", "\u2764\ufe0fx"},
		{"private use", 9, 1, "\U00100000x\U0010fffey\ue0a0", "\ufffdx\ufffdy\ue0a0"},
		{"invalid", 9, 1, "a\xff\xe4\xb8b\x80c", "a\ufffd\ufffd\ufffdb\ufffdc"},
		{"NEL of eight bits is no text", 9, 1, "a\u0085b", "ab"},
		{"one cell", 1, 1, "abc\r\nd\x1b[2J中e\x1b[5;5Hf\x1b[4hg", "g"},
		{"many lines", 9, 3, strings.Repeat("line\r\n", 100) + "end", "line\nline\nend"},
		{"many lines in a region", 9, 3, "top\x1b[2;3r\x1b[2H" + strings.Repeat("line\r\n", 100) + "end", "top\nline\nend"},
	} {
		if got := shown(t, c.cols, c.rows, c.in).Text(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSkippedLines holds that leaving out what scrolls off changes nothing: once in one piece, once line by line.
func TestSkippedLines(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"\r\n", "\r\n", "\r\n", "\n", "a", "bcdefgh", "中文", "e\u0301", "\t", "\b\b", "\r", "\x1b[31m", "\v"}
	for range 300 {
		cols, rows := 1+r.IntN(9), 1+r.IntN(5)
		whole, drawn := New(cols, rows), New(cols, rows)
		var b strings.Builder
		for range 60 {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		whole.Write([]byte(b.String()))
		for _, line := range strings.SplitAfter(b.String(), "\n") {
			drawn.Write([]byte(line))
			drawn.Modes()
		}
		if got, want := whole.Snapshot(), drawn.Snapshot(); fmt.Sprintf("%q", got.Lines) != fmt.Sprintf("%q", want.Lines) || got.CursorX != want.CursorX {
			t.Fatalf("%d×%d %q: %q at %d, want %q at %d", cols, rows, b.String(), got.Lines, got.CursorX, want.Lines, want.CursorX)
		}
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[5n":                  "\x1b[0n",
		"ab\r\nc\x1b[6n":           "\x1b[2;2R",
		"中\x1b[6nx\x1b[6n":         "\x1b[1;3R\x1b[1;4R",
		"\x1b[?6n":                 "\x1b[?1;1;1R",
		"\x1b[2;3r\x1b[?6h\x1b[6n": "\x1b[1;1R",
		"\x1b[c":                   "\x1b[?1;2c",
		"\x1b[0c":                  "\x1b[?1;2c",
		"\x1b[>c":                  "\x1b[>0;10;0c",
		"\x1b[=c":                  "\x1bP!|00000000\x1b\\",
		"\x1bZ":                    "\x1b[?1;2c",
		"\x1b[>q":                  "\x1bP>|maishell\x1b\\",
		"\x1b[18t":                 "\x1b[8;5;20t",
		"\x1b[?7$p":                "\x1b[?7;1$y",
		"\x1b[?1049$p":             "\x1b[?1049;2$y",
		"\x1b[?2004h\x1b[?2004$p":  "\x1b[?2004;1$y",
		"\x1b[?2026$p":             "\x1b[?2026;0$y",
		"\x1b[4$p":                 "\x1b[4;2$y",
		"\x1b]10;?\x07":            "\x1b]10;rgb:ffff/ffff/ffff\x07",
		"\x1b]11;?\x1b\\":          "\x1b]11;rgb:0000/0000/0000\x1b\\",
		"\x1bP$qm\x1b\\":           "\x1bP0$r\x1b\\",
		"\x1bP+q544e\x1b\\":        "\x1bP0+r\x1b\\",
		// What a program could have typed for itself is never sent.
		"\x1b]0;rm -rf\x07\x1b[21t\x1b[20t\x1b]52;c;?\x07\x1b[?1;2c\x1b[1c\x1b]2;?\x07\x05": "",
	} {
		s := New(20, 5)
		s.Write([]byte(in))
		if got := string(s.Replies()); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := s.Replies(); again != nil {
			t.Errorf("%q: again %q", in, again)
		}
	}
	s := New(20, 5)
	s.Write(bytes.Repeat([]byte("\x1b[c"), 10_000))
	if n := len(s.Replies()); n == 0 || n > maxReplies {
		t.Errorf("%d bytes of replies", n)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	s := New(20, 5)
	if s.Modes() != (Modes{}) {
		t.Errorf("at first: %+v", s.Modes())
	}
	s.Write([]byte("\x1b[?1;2004h\x1b[?1049h\x1b=\x1b[?25l\x1b]2;a\x1b\\"))
	want := Modes{Alternate: true, AppCursor: true, AppKeypad: true, BracketedPaste: true}
	if shot := s.Snapshot(); shot.Modes != want || shot.CursorVisible || shot.Title != "a" {
		t.Errorf("%+v", shot)
	}
	s.Write([]byte("\x1b[?1;2004l\x1b[?1049l\x1b>\x1b[?25h\x1b]0;" + strings.Repeat("é", 200) + "\a"))
	if shot := s.Snapshot(); shot.Modes != (Modes{}) || !shot.CursorVisible || shot.Title != strings.Repeat("é", 128) {
		t.Errorf("%+v", shot)
	}
	s.Write([]byte("\x1b]0;a\x01\u202eb\xffc;d\a"))
	if title := s.Snapshot().Title; title != "abc;d" {
		t.Errorf("title %q", title)
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	s := New(10, 4)
	s.Write([]byte("one\r\ntwo\r\nthree\r\nabcd中"))
	s.Resize(5, 2)
	if got := s.Snapshot(); got.Text() != "three\nabcd" || got.CursorX > 4 || got.Rows != 2 || got.Cols != 5 || len(got.Lines) != 2 {
		t.Errorf("%q at %d", got.Text(), got.CursorX)
	}
	s.Resize(30, 3)
	s.Write([]byte("\x1b[Hx\t\ty\tz"))
	if got := s.Snapshot().Lines[0]; got != "xhree           y       z" {
		t.Errorf("%q", got)
	}
	s.Resize(0, -1)
	s.Write([]byte("ab中"))
	s.Resize(100_000, 100_000)
	if got := s.Snapshot(); got.Cols != MaxSize || got.Rows != MaxSize {
		t.Errorf("%d×%d", got.Cols, got.Rows)
	}
	s.Resize(80, 24)
	s.Write([]byte("\x1b[2;3r\x1b[?1049h"))
	s.Resize(40, 10)
	s.Write([]byte("\x1b[10Hend"))
	if got := s.Snapshot(); got.Lines[9] != "end" || !got.Alternate {
		t.Errorf("%q", got.Lines)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := New(20, 5)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 100 {
				switch i {
				case 0:
					s.Write([]byte("中\x1b[6n\r\nabc\x1b[2J"))
				case 1:
					s.Resize(1+n%30, 1+n%9)
				case 2:
					s.Snapshot()
				default:
					s.Replies()
					s.Modes()
				}
			}
		})
	}
	wg.Wait()
}

// TestHostile holds that a few bytes cannot cost much time or memory.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := New(120, 40)
	for _, in := range []string{
		"x\x1b[999999999999b", "\x1b[65535I\x1b[65535Z", "\x1b[65535@\x1b[65535L\x1b[65535P\x1b[65535M\x1b[65535S\x1b[65535T\x1b[65535X",
		"\x1b]0;" + strings.Repeat("x", 1<<20), "\x07\x1bP" + strings.Repeat("\x1b]", 1000), "\x1b[" + strings.Repeat("9", 1<<20) + "A",
		strings.Repeat("\u0301", 1<<16), "e" + strings.Repeat("\u0301", 1<<16), "\x1b[" + strings.Repeat(";", 1<<16) + "m",
		strings.Repeat("\x1b7\x1b[?1049h\x1b[?1049l", 1000), strings.Repeat("\x1b[1;1H", 10_000),
	} {
		s.Write([]byte(in))
		s.Write([]byte("\x18\x1b[20;1H"))
		if n := cap(s.text) + cap(s.scan.str) + cap(s.replies) + cap(s.out); n > 1<<20 {
			t.Errorf("%.20q: %d bytes kept", in, n)
		}
	}
	for i := range 2 * maxMarks {
		fmt.Fprintf(s, "%c\u0301\u0302", rune(0x4e00+i))
	}
	if n := len(s.marks.texts); n > maxMarks {
		t.Errorf("%d clusters", n)
	}
	if cap(s.tokens) > 4*maxTokens {
		t.Errorf("room for %d tokens", cap(s.tokens))
	}
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("a\x1b[2;3H中\x1b[6n\x1b[?1049h\x1b[4h\x1b[2;3r\x1b[?6hx\x1b[L\x1b[M"), uint8(5), uint8(3))
	f.Add([]byte("\x1b]0;t\x07\x1b(0q\x1b[b\x1b[65535b\x1b7\x1b8\x1bc\x1b[!p\x1b#8e\u0301\xe4"), uint8(1), uint8(1))
	f.Add([]byte("\x1b[20h\n\t\x1b[g\x1bH\x1b[3g\x1b[Z\x1b[I\x1bD\x1bE\x1bM\x1b[1J\x1b[2K"), uint8(9), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, cols, rows uint8) {
		s := New(int(cols)%20, int(rows)%8)
		half := len(in) / 2
		s.Write(in[:half])
		s.Resize(int(rows)%20, int(cols)%8)
		s.Write(in[half:])
		shot := s.Snapshot()
		if len(shot.Lines) != shot.Rows || shot.CursorX < 0 || shot.CursorX >= shot.Cols || shot.CursorY < 0 || shot.CursorY >= shot.Rows {
			t.Fatalf("%+v", shot)
		}
		for _, line := range shot.Lines {
			cells := 0
			for _, r := range line {
				cells += columns(r)
			}
			if !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\n\t\x00") || cells > shot.Cols {
				t.Fatalf("%q", line)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	for name, line := range map[string]string{
		"plain":   "hello world, this is a line of text like those that builds print\r\n",
		"colours": "\x1b[32mhello\x1b[0m world \x1b[1;31mthis\x1b[m is a line of text\r\n",
		"screens": "\x1b[3;4Hsome text\x1b[K\x1b[5;1H中文\x1b[J",
	} {
		b.Run(name, func(b *testing.B) {
			in := bytes.Repeat([]byte(line), 60)
			s := New(120, 40)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				s.Write(in)
			}
		})
	}
}

package executor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/maishell/maishell/executor/readable"
	"github.com/maishell/maishell/redact"
)

var _ io.Writer = (*collector)(nil)

func collect(maxChars int, page string, chunks ...string) Output {
	c := newCollector(maxChars, page, nil)
	for _, chunk := range chunks {
		n, err := c.Write([]byte(chunk))
		if n != len(chunk) || err != nil {
			panic(fmt.Sprint(n, err))
		}
	}
	return c.finish()
}

func TestCollectorKeepsWhatFits(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", strings.Repeat("a", 100), strings.Repeat("中", 100), strings.Repeat("😀", 100)} {
		out := collect(100, "", text)
		if out.Head != text || out.Tail != "" || out.Truncated() || out.TotalBytes != int64(len(text)) {
			t.Errorf("%q: %+v", text, out)
		}
	}
}

func TestCollectorCutsHeadAndTail(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", "é", "界", "😀"} {
		for _, count := range []int{101, 150, 1000, 100_000} {
			for _, lead := range []string{"", "x", "xy", "xyz"} {
				text := lead + strings.Repeat(unit, count)
				out := collect(100, "", text)
				total := len(lead) + count
				if !strings.HasPrefix(text, out.Head) || !strings.HasSuffix(text, out.Tail) {
					t.Fatalf("%q × %d: head %q tail %q", unit, count, out.Head, out.Tail)
				}
				if runes(out.Head) != 50 || runes(out.Tail) != 50 || out.OmittedChars != int64(total-100) {
					t.Errorf("%q × %d: %d + %d, omitted %d", unit, count, runes(out.Head), runes(out.Tail), out.OmittedChars)
				}
			}
		}
	}
}

func TestCollectorCountsInCodePage(t *testing.T) {
	t.Parallel()
	line := encode(t, simplifiedchinese.GBK, "错误：没有找到文件\n") // ten characters
	out := collect(100, "gbk", strings.Repeat(line, 1000))
	shown := runes(out.Head) + runes(out.Tail)
	if want := int64(10*1000 - shown); out.OmittedChars != want || shown < 95 || strings.Contains(out.Head+out.Tail, replacement) {
		t.Errorf("omitted %d, want %d; %q %q", out.OmittedChars, want, out.Head, out.Tail)
	}
}

func TestCollectorKeepsTogether(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"ab\r\n", "e\u0301", "👍🏽", "👩\u200d💻"} {
		out := collect(11, "", strings.Repeat(unit, 1000))
		text := strings.Repeat(unit, 3)
		if strings.TrimLeft(out.Head, "ab") != "" && joined(out.Head+unit, 0) || joined(out.Tail, 0) {
			t.Error("cut at the outside")
		}
		if unit != "ab\r\n" && (!strings.HasPrefix(text, out.Head) || len(out.Head)%len(unit) != 0 || len(out.Tail)%len(unit) != 0) {
			t.Errorf("%q: head %q tail %q", unit, out.Head, out.Tail)
		}
		if strings.HasSuffix(out.Head, "\r") || strings.HasPrefix(out.Tail, "\n") {
			t.Errorf("%q: head %q tail %q", unit, out.Head, out.Tail)
		}
	}
}

func TestCollectorDiscardsAfterFinish(t *testing.T) {
	t.Parallel()
	c := newCollector(100, "", nil)
	if !c.lastWrite().IsZero() {
		t.Error("output before any output")
	}
	_, _ = c.Write([]byte("a"))
	last := c.lastWrite()
	first := c.finish()
	_, _ = c.Write([]byte("b"))
	if got := c.finish(); got != first || got.Head != "a" {
		t.Errorf("%+v, want %+v", got, first)
	}
	if last.IsZero() || !c.lastWrite().Equal(last) {
		t.Error("wrong time of the last output")
	}
}

func TestCollectorFinishesWhileWritten(t *testing.T) {
	t.Parallel()
	c := newCollector(100, "", nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10_000 {
			_, _ = c.Write([]byte("line\n"))
		}
	}()
	first := c.finish()
	<-done
	if got := c.finish(); got != first || first.TotalBytes%5 != 0 {
		t.Errorf("%+v, then %+v", first, got)
	}
}

func TestCollectorMemoryIsBounded(t *testing.T) {
	c := newCollector(8000, "", nil)
	chunk := make([]byte, 64<<10)
	write := func() { _, _ = c.Write(chunk) }
	write()
	write()
	if n := testing.AllocsPerRun(100, write); n > 0 {
		t.Errorf("%v allocations per write", n)
	}
	if got := cap(c.head) + cap(c.tail); got > 48<<10 {
		t.Errorf("%d bytes for 8000 characters", got)
	}
	text := []byte("ten bytes\n")
	small := func() {
		c := newCollector(8000, "", nil)
		_, _ = c.Write(text)
		c.finish()
	}
	if n := testing.AllocsPerRun(100, small); n > 5 {
		t.Errorf("%v allocations for ten bytes", n)
	}
}

func TestOutputText(t *testing.T) {
	t.Parallel()
	note := func(n int64) string { return fmt.Sprintf("[%d missing]", n) }
	whole := Output{Head: strings.Repeat("a", 500)}
	if whole.Text(100, note) != whole.Head {
		t.Error("whole text changed")
	}
	for _, test := range []struct {
		out   Output
		limit int
		want  string
	}{
		{Output{Head: "abc", Tail: "xyz", OmittedChars: 7}, 100, "abc\n[7 missing]\nxyz"},
		{Output{Head: "abc\n", Tail: "xyz", OmittedChars: 7}, 100, "abc\n[7 missing]\nxyz"},
		{Output{Head: "abc", OmittedChars: 7}, 100, "abc\n[7 missing]"},
		{Output{Tail: "xyz", OmittedChars: 7}, 100, "[7 missing]\nxyz"},
		{Output{Head: "abcdef", Tail: "uvwxyz", OmittedChars: 7}, 20, "abc\n[13 missing]\nxyz"},
		{Output{Head: "a", Tail: "uvwxyz", OmittedChars: 7}, 20, "a\n[8 missing]\nvwxyz"},
		{Output{Head: "中文字符错误", Tail: "错误的总数目", OmittedChars: 7}, 20, "中文字\n[13 missing]\n总数目"},
		{Output{Head: "abc", Tail: "xyz", OmittedChars: 7}, 5, "[13 m"},
	} {
		got := test.out.Text(test.limit, note)
		if got != test.want || runes(got) > test.limit {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestCollectorHidesSecretsAtCuts places a secret across every edge of what is kept.
func TestCollectorHidesSecretsAtCuts(t *testing.T) {
	t.Parallel()
	const secret = "sk-test-0123456789abcdef"
	long := "sk-te" + strings.Repeat("3456", 1000) + "bcdef" // its masks are so short that all of an end is shown
	set, err := redact.New(redact.Options{Literals: []string{secret, long}, Patterns: []redact.Pattern{}})
	if err != nil {
		t.Fatal(err)
	}
	const maxChars = 100
	limit := newCollector(maxChars, "", set).limit
	for _, unit := range []string{".", "界", secret, long} {
		n := 3 * limit / len(unit)
		total := n*len(unit) + len(secret)
		for _, edge := range []int{0, maxChars / 2 * len(unit), limit, total - limit, total - maxChars/2*len(unit), total} {
			for at := edge - 2*len(secret); at <= edge+2*len(secret); at += 3 {
				before := at / len(unit)
				if before < 0 || before > n {
					continue
				}
				text := strings.Repeat(unit, before) + secret + strings.Repeat(unit, n-before)
				c := newCollector(maxChars, "", set)
				_, _ = c.Write([]byte(text))
				out := c.finish()
				shown := out.Head + out.Text(60, func(int64) string { return "-" }) + out.Tail
				if !out.Truncated() || strings.Contains(shown, "sk-te") || strings.Contains(shown, "bcdef") || strings.Contains(shown, "3456") {
					t.Fatalf("%q, secret at %d: head %q tail %q", unit, at, out.Head, out.Tail)
				}
			}
		}
	}
	c := newCollector(maxChars, "", set)
	_, _ = c.Write([]byte("a " + secret[:9]))
	_, _ = c.Write([]byte(secret[9:] + " b"))
	if out := c.finish(); strings.Contains(out.Head, "0123") || !strings.HasPrefix(out.Head, "a ") || !strings.HasSuffix(out.Head, " b") {
		t.Errorf("%q", out.Head)
	}
}

func FuzzCollector(f *testing.F) {
	f.Add([]byte("hello 中文 \xE4\xBD\r\n"), []byte{1, 2, 3}, uint8(10), uint8(0))
	f.Add([]byte(strings.Repeat("错e\u0301", 200)), []byte{5, 1}, uint8(7), uint8(0))
	f.Add([]byte(strings.Repeat("\xC4\xE3\xBA\xC3\n", 100)), []byte{200, 1}, uint8(20), uint8(1))
	f.Add([]byte("\xFF\xFE"+strings.Repeat("a\x00\n\x00", 100)), []byte{3}, uint8(9), uint8(2))
	pages := []string{"utf-8", "gbk", "utf-16le", "cp437", "gb18030"}
	f.Fuzz(func(t *testing.T, data, sizes []byte, limit, page uint8) {
		maxChars, name := int(limit)+1, pages[int(page)%len(pages)]
		var chunks []string
		rest := string(data)
		for i := 0; len(rest) > 0 && len(sizes) > 0; i++ {
			n := min(int(sizes[i%len(sizes)])+1, len(rest))
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		chunks = append(chunks, rest)
		whole, out := collect(maxChars, name, string(data)), collect(maxChars, name, chunks...)
		if whole != out {
			t.Fatalf("in pieces %+v, at once %+v", out, whole)
		}
		checkOutput(t, out, maxChars)
		text, _, _, c := decodeEnds(ends{head: data}, name)
		head := data
		if keeps := newCollector(maxChars, name, nil).limit; len(data) > 2*keeps {
			head = data[:keeps]
		}
		seen := readable.Text(text)
		switch {
		case out.Binary:
			if is, _ := readable.Binary(head); !is || out.Head+out.Tail != "" || !out.Truncated() {
				t.Fatalf("%+v of %q", out, data)
			}
		case !out.Truncated():
			if out.Head != seen || out.Tail != "" {
				t.Fatalf("got %q, want %q", out.Head, seen)
			}
		case seen == text && c == codec(utf8Codec{}) && utf8.Valid(data) && !looksUTF16LE(head):
			shown := runes(out.Head) + runes(out.Tail)
			if !strings.HasPrefix(text, out.Head) || !strings.HasSuffix(text, out.Tail) || out.OmittedChars != int64(runes(text)-shown) {
				t.Fatalf("%+v of %q", out, text)
			}
		}
	})
}

func checkOutput(t *testing.T, out Output, maxChars int) {
	t.Helper()
	if runes(out.Head)+runes(out.Tail) > maxChars {
		t.Fatalf("%d + %d characters, at most %d", runes(out.Head), runes(out.Tail), maxChars)
	}
	text := out.Text(maxChars, func(n int64) string { return fmt.Sprint("-", n, "-") })
	if out.Truncated() && runes(text) > maxChars {
		t.Fatalf("%d characters with the note, at most %d", runes(text), maxChars)
	}
	for _, s := range []string{out.Head, out.Tail, text} {
		b, err := json.Marshal(s)
		var back string
		if err != nil || json.Unmarshal(b, &back) != nil || back != s || !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Fatalf("%q does not survive JSON", s)
		}
	}
}

func BenchmarkCollectorDrain(b *testing.B) {
	for name, text := range map[string]string{"ascii": "y\n", "han": "错误", "zero": "\x00"} {
		b.Run(name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(text, 64<<10/len(text)))
			c := newCollector(8000, "", nil)
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				_, _ = c.Write(chunk)
			}
		})
	}
}

func BenchmarkCollectorSmall(b *testing.B) {
	for b.Loop() {
		c := newCollector(8000, "", nil)
		_, _ = c.Write([]byte("hello\n"))
		c.finish()
	}
}

// TestPeekHidesSecrets looks at every moment of an output in pieces: what is seen is the end of what came, and never a piece of
// a secret.
func TestPeekHidesSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sk-test-0123456789abcdef"
	set, err := redact.New(redact.Options{Literals: []string{secret}, Patterns: []redact.Pattern{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []int{0, 1, 5000, 4*peekBytes + set.Overlap(), 3 * (peekBytes + set.Overlap())} {
		for _, size := range []int{1, 7, 4096} {
			c := newCollector(100, "", set)
			text := strings.Repeat("界\n", before/4) + secret + " end\n"
			if before > 0 {
				size = max(size, before/50)
			}
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				_, _ = c.Write([]byte(rest[:n]))
				rest = rest[n:]
				if seen := c.peek(); strings.Contains(seen, "sk-te") || strings.Contains(seen, "bcdef") || strings.Contains(seen, replacement) || len(seen) > peekBytes+c.overlap+maxCharBytes {
					t.Fatalf("before %d size %d: %q", before, size, seen)
				}
			}
			if seen := c.peek(); !strings.HasSuffix(seen, "*** end\n") {
				t.Fatalf("before %d size %d: %q", before, size, seen)
			}
			c.finish()
			if seen := c.peek(); seen != "" {
				t.Fatalf("after the end: %q", seen)
			}
		}
	}
}

// A secret is hidden also when a sequence stands in it, and one that only comes to be by overwriting.
func TestSecretsThatTerminalsPutTogether(t *testing.T) {
	t.Parallel()
	const secret = "sk-test-0123456789abcdef"
	set, err := redact.New(redact.Options{Literals: []string{secret}, Patterns: []redact.Pattern{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"a sk-test-\x1b[31m0123456789\x1b[0mabcdef b\n", "a Xk-test-0123456789abcdef b\ra s\n", "a sk-test-012345678X\b9abcdef b\n",
	} {
		c := newCollector(1000, "", set)
		_, _ = c.Write([]byte(text))
		if seen := c.peek(); strings.Contains(seen, "0123") {
			t.Errorf("peek at %q: %q", text, seen)
		}
		if out := c.finish(); strings.Contains(out.Head, "0123") || !strings.HasPrefix(out.Head, "a ") || !strings.HasSuffix(out.Head, " b\n") {
			t.Errorf("%q: %q", text, out.Head)
		}
	}
}

func TestBinaryOutput(t *testing.T) {
	t.Parallel()
	c := newCollector(1000, "", nil)
	for range 100 {
		_, _ = c.Write(append([]byte("\x7fELF"), make([]byte, 1000)...))
	}
	if out := c.finish(); !out.Binary || out.Kind != "ELF" || !out.Truncated() || out.TotalBytes != 100_400 || out.Head != "" {
		t.Errorf("%+v", out)
	}
}

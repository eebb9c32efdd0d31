package lineedit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// vt is as much of a terminal as the editor uses. A cell behind a wide character is "".
type vt struct {
	mu    sync.Mutex
	cols  int
	rows  [][]string
	x, y  int
	modes map[string]bool
}

func newVT(cols int) *vt { return &vt{cols: cols, rows: [][]string{nil}, modes: map[string]bool{}} }

func (v *vt) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := string(p)
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
			v.control(rest[:end], rest[end])
			s = rest[end+1:]
			continue
		}
		r := []rune(s)[0]
		s = s[len(string(r)):]
		v.put(r)
	}
	return len(p), nil
}

func (v *vt) control(params string, final byte) {
	n, err := strconv.Atoi(params)
	if err != nil {
		n = 1
	}
	switch final {
	case 'A':
		v.y = max(0, v.y-n)
	case 'C':
		v.x = min(v.cols-1, v.x+n)
	case 'J':
		v.rows = v.rows[:v.y+1]
		v.rows[v.y] = v.rows[v.y][:min(v.x, len(v.rows[v.y]))]
	case 'h', 'l':
		v.modes[params] = final == 'h'
	case 'm':
	default:
		panic(fmt.Sprintf("unknown sequence %q %c", params, final))
	}
}

func (v *vt) put(r rune) {
	switch r {
	case '\r':
		v.x = 0
		return
	case '\n':
		if v.y++; v.y == len(v.rows) {
			v.rows = append(v.rows, nil)
		}
		return
	}
	n := columns(r)
	line := v.rows[v.y]
	for len(line) < v.x+n {
		line = append(line, " ")
	}
	if n == 0 {
		line[v.x-1] += string(r)
	} else {
		line[v.x] = string(r)
		if n == 2 {
			line[v.x+1] = ""
		}
	}
	v.rows[v.y] = line
	v.x += n
}

// String is the screen, the cursor as a bar.
func (v *vt) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for y, row := range v.rows {
		text := ""
		for x := 0; x <= max(len(row), v.x); x++ {
			if y == v.y && x == v.x {
				text += "|"
			}
			if x < len(row) {
				text += row[x]
			} else if y == v.y && x < v.x {
				text += " "
			}
		}
		out = append(out, strings.TrimRight(text, " "))
	}
	return strings.Join(out, "\n")
}

// typed gives the screen after keys were read, and the lines that were entered.
func typed(t *testing.T, cols int, keys string, h *History) (*vt, []string) {
	t.Helper()
	screen := newVT(cols)
	e := New(Options{In: strings.NewReader(keys), Out: screen, Width: func() int { return cols }, Prompt: "> ", History: h})
	var lines []string
	for {
		line, err := e.ReadLine()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return screen, lines
		}
		lines = append(lines, line)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ keys, screen string }{
		"plain":                {"hello", "> hello|"},
		"left and insert":      {"hlo\x1b[D\x1b[Del", "> hel|lo"},
		"home, end":            {"bc\x01a\x05d", "> abcd|"},
		"home by sequence":     {"bc\x1b[Ha\x1b[1~_\x1bOHx\x1b[4~z", "> x_abcz|"},
		"backspace":            {"abc\x7f\x08d", "> ad|"},
		"backspace at 0":       {"\x7fa", "> a|"},
		"delete":               {"abc\x1b[D\x1b[D\x1b[3~", "> a|c"},
		"ctrl-d in a line":     {"abc\x01\x04", "> |bc"},
		"words":                {"one two three\x1bb\x1b[1;5DX\x1bf\x1b[1;5CY", "> one Xtwo threeY|"},
		"delete word":          {"one two\x17x\x17\x1b\x7f", "> |"},
		"delete word right":    {"one two\x01\x1bd", "> | two"},
		"kill and yank":        {"abc def\x15\x19\x19", "> abc defabc def|"},
		"kill to end":          {"abc\x01\x1b[C\x0b", "> a|"},
		"transpose":            {"ab\x14", "> ba|"},
		"wide":                 {"你好\x1b[Dx", "> 你x|好"},
		"wide backspace":       {"你好\x7f", "> 你|"},
		"combining backspace":  {"ae\u0301\x7f", "> a|"},
		"emoji":                {"😀b\x1b[D\x7f", "> |b"},
		"lone escape":          {"a\x1b\x1b[Db", "> b|a"},
		"unknown sequences":    {"a\x1b[5~\x1b[15~\x1bOP\x1b[200;5Xb", "> ab|"},
		"control characters":   {"a\x00\x0f\x1fb", "> ab|"},
		"tab":                  {"a\tb", "> a b|"},
		"ctrl-c clears":        {"abc\x03d", "> d|"},
		"interrupted sequence": {"a\x1b[", "> a|"},
		"wrapped":              {"abcdefghijklmnop", "> abcdefg\nhijklmnop\n|"},
		"wrapped, in it":       {"abcdefghij\x01\x1b[C", "> a|bcdefg\nhij"},
		"cursor at the border": {"abcdefghij\x1b[D\x1b[D\x1b[D", "> abcdefg\n|hij"},
		"wide at the border":   {"abcdef你", "> abcdef\n你|"},
		"cursor before wide":   {"abcdef你\x1b[D", "> abcdef\n|你"},
		"invalid bytes":        {"a\xb0\xa1b", "> a\uFFFD\uFFFDb|"},
		"up without history":   {"a\x1b[A\x1b[Bb", "> ab|"},
		"paste":                {"x\x1b[200~a\r\nb\nc\n\x1b[201~y", "> xa⏎b⏎cy|"},
		"paste with escapes":   {"\x1b[200~a\x1b[Db\x03\x1b[201~", "> a^[[Db^C|"},
		"clear":                {"", "> |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			screen, _ := typed(t, 10, c.keys, nil)
			if strings.Count(c.screen, "\n") == 0 {
				screen, _ = typed(t, 60, c.keys, nil)
			}
			if diff := cmp.Diff(c.screen, screen.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnteredLines(t *testing.T) {
	t.Parallel()
	screen, lines := typed(t, 20, "one\rtwo\n\r\x1b[200~a\nb\x1b[201~\r\xff\xb0\r你\r", nil)
	if diff := cmp.Diff([]string{"one", "two", "", "a\nb", "\xff\xb0", "你"}, lines); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("> one\n> two\n>\n> a⏎b\n> \uFFFD\uFFFD\n> 你\n> |", screen.String()); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryKeys(t *testing.T) {
	t.Parallel()
	_, lines := typed(t, 20, "one\rtwo\rnew\x1b[A\x1b[A\x1b[A!\r\x1b[A\x1b[B\x1b[B\x1b[Bx\rdraft\x10\x0e\r", nil)
	if diff := cmp.Diff([]string{"one", "two", "one!", "x", "draft"}, lines); diff != "" {
		t.Error(diff)
	}
}

// However texts, keys, status and the width come, the printed text stays whole and in order, and the edited line is below it.
func TestWhateverIsPrinted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		cols := rapid.IntRange(8, 30).Draw(rt, "cols")
		screen := newVT(cols)
		keys, feed := io.Pipe()
		e := New(Options{In: keys, Out: screen, Width: func() int { return cols }, Prompt: "> "})
		want := ""
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0, 1:
				text := rapid.SampledFrom([]string{"a", "你好 x", "line\n", "\n", "a\tb\n", strings.Repeat("long ", 9), "x\ny\nz"}).Draw(rt, "text")
				want += text
				if err := e.Print(text); err != nil {
					rt.Fatal(err)
				}
			case 2:
				e.SetStatus(rapid.SliceOfN(rapid.SampledFrom([]string{"s", "状态状态状态状态状态状态状态", ""}), 0, 3).Draw(rt, "status"))
			case 3:
				e.press(rapid.SampledFrom([]key{keyText, keyLeft, keyHome, keyBackspace, keyDeleteToEnd}).Draw(rt, "key"), []rune("é你b"))
			}
		}
		e.SetStatus(nil)
		if err := e.Close(); err != nil {
			rt.Fatal(err)
		}
		_ = feed.Close()
		flatten := strings.NewReplacer("|", "", "\t", "", "\n", "", " ", "")
		if got, flat := flatten.Replace(screen.String()), flatten.Replace(want); got != flat {
			rt.Fatalf("printed %q, on the screen %q", flat, got)
		}
	})
}

func TestStatusAndPending(t *testing.T) {
	t.Parallel()
	screen := newVT(20)
	e := New(Options{In: strings.NewReader(""), Out: screen, Width: func() int { return 20 }, Prompt: "> "})
	e.press(keyText, []rune("typed"))
	check := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, screen.String()); diff != "" {
			t.Error(diff)
		}
	}
	if err := e.Print("first\nhalf"); err != nil {
		t.Fatal(err)
	}
	e.SetStatus([]string{"running 3 s", "a very long status line"})
	check("first\nhalf\nrunning 3 s\na very long status…\n> typed|")
	if err := e.Print(" and more\n"); err != nil {
		t.Fatal(err)
	}
	e.SetStatus(nil)
	check("first\nhalf and more\n> typed|")
	if !screen.modes["?2004"] {
		t.Error("pastes are not marked")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	check("first\nhalf and more\n|")
	if screen.modes["?2004"] {
		t.Error("pastes are still marked")
	}
}

func TestInterruptAndSuspend(t *testing.T) {
	t.Parallel()
	screen := newVT(20)
	var seen []string
	e := New(Options{
		In: strings.NewReader("ab\x03\x03c\x1a\r"), Out: screen, Width: func() int { return 20 }, Prompt: "> ",
		Interrupt: func(cleared bool) { seen = append(seen, fmt.Sprint(cleared)) },
		Suspend:   func() { seen = append(seen, screen.String()) },
	})
	line, err := e.ReadLine()
	if diff := cmp.Diff([]string{"true", "false", "|"}, seen); err != nil || line != "c" || diff != "" {
		t.Errorf("%q %v %s", line, err, diff)
	}
	if _, err := e.ReadLine(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// An answer to a question is nobody's to recall.
func TestLinesThatAreNotKept(t *testing.T) {
	t.Parallel()
	h, keep := &History{}, true
	e := New(Options{
		In: strings.NewReader("one\rsecret answer\r\x1b[A\r"), Out: io.Discard, Width: func() int { return 40 }, Prompt: "> ", History: h,
		Keep: func() bool { return keep },
	})
	var lines []string
	for _, keep = range []bool{true, false, true} {
		line, err := e.ReadLine()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if diff := cmp.Diff([]string{"one", "secret answer", "one"}, lines); diff != "" || h.len() != 1 {
		t.Errorf("%s; %d kept", diff, h.len())
	}
}

func TestHistoryFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	open := func() *History {
		h, err := OpenHistory(path, func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	for _, line := range []string{"one", "one", "", " ", "a secret", "two\nlines \xff", strings.Repeat("x", maxHistoryLine+1)} {
		if err := h.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Fatal(info.Mode(), err)
	}
	if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "secret") {
		t.Errorf("%s %v", data, err)
	}
	if diff := cmp.Diff([]string{"one", "a ***", "two\nlines \xff"}, open().lines); diff != "" {
		t.Error(diff)
	}
	// What is no history is skipped.
	if err := os.WriteFile(path, []byte("garbage\n\"good\"\n\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"good"}, open().lines); diff != "" {
		t.Error(diff)
	}
	// It does not grow for ever.
	var many strings.Builder
	for i := range 2*maxHistory + 1 {
		fmt.Fprintf(&many, "%q\n", fmt.Sprint(i))
	}
	if err := os.WriteFile(path, []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open().lines; len(got) != maxHistory || got[maxHistory-1] != fmt.Sprint(2*maxHistory) {
		t.Errorf("%d lines, the last %s", len(got), got[len(got)-1])
	}
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != maxHistory {
		t.Error("the file was not written anew", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

func TestHistoryThatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, err := OpenHistory(dir, nil)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if err := h.Add("kept"); err != nil || h.at(0) != "kept" {
		t.Error(err)
	}
}

func FuzzKeys(f *testing.F) {
	for _, s := range []string{"abc\r", "\x1b[200~x\x1b[201~", "\x1b[1;5D\x1b", "你\x7f\x7f", "\xff\xfe"} {
		f.Add(s, 12)
	}
	f.Fuzz(func(t *testing.T, keys string, cols int) {
		e := New(Options{In: strings.NewReader(keys), Out: io.Discard, Width: func() int { return cols }, Prompt: "> "})
		for range len(keys) + 1 {
			if _, err := e.ReadLine(); err != nil {
				return
			}
		}
		t.Fatal("more lines than keys")
	})
}

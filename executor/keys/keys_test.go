package keys

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/maishell/maishell/texts"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a": "a", "A": "A", "é": "é", "中": "中", "?": "?", "-": "-", "+": "+", "^": "^", " ": " ",
		"Enter": "\r", "enter": "\r", "return": "\r", "RETURN": "\r", "Tab": "\t", "S-Tab": "\x1b[Z", "BTab": "\x1b[Z", "Escape": "\x1b", "esc": "\x1b",
		"Space": " ", "C-Space": "\x00", "BSpace": "\x7f", "backspace": "\x7f", "C-BSpace": "\b", "M-BSpace": "\x1b\x7f",
		"Up": "\x1b[A", "down": "\x1b[B", "ArrowRight": "\x1b[C", "Left": "\x1b[D", "Home": "\x1b[H", "End": "\x1b[F",
		"Insert": "\x1b[2~", "Delete": "\x1b[3~", "DC": "\x1b[3~", "PageUp": "\x1b[5~", "pgup": "\x1b[5~", "PPage": "\x1b[5~", "PgDn": "\x1b[6~", "NPage": "\x1b[6~",
		"F1": "\x1bOP", "F4": "\x1bOS", "F5": "\x1b[15~", "F12": "\x1b[24~", "F20": "\x1b[34~", "f10": "\x1b[21~",
		"C-c": "\x03", "C-C": "\x03", "Ctrl+C": "\x03", "ctrl-c": "\x03", "Control-c": "\x03", "^C": "\x03", "^c": "\x03", "Ctrl + C": "\x03", "C-S-c": "\x03",
		"C-d": "\x04", "C-z": "\x1a", "C-[": "\x1b", "^[": "\x1b", "C-\\": "\x1c", "C-]": "\x1d", "C-^": "\x1e", "^^": "\x1e", "C-_": "\x1f", "C-/": "\x1f", "C-@": "\x00", "C-?": "\x7f",
		"M-x": "\x1bx", "Alt+x": "\x1bx", "meta-X": "\x1bX", "C-M-x": "\x1b\x18", "M-C-x": "\x1b\x18", "M-Enter": "\x1b\r", "M--": "\x1b-", "S-a": "A", "M-é": "\x1bé",
		"C-Up": "\x1b[1;5A", "S-Left": "\x1b[1;2D", "M-Right": "\x1b[1;3C", "C-S-Left": "\x1b[1;6D", "C-M-S-Home": "\x1b[1;8H", "C-Left": "\x1b[1;5D",
		"S-F5": "\x1b[15;2~", "C-F1": "\x1b[1;5P", "C-Delete": "\x1b[3;5~", "S-PageUp": "\x1b[5;2~", "ctrl+shift+f5": "\x1b[15;6~",
		"hex:1b5b41": "\x1b[A", "HEX:00 ff": "\x00\xff",
	} {
		got, err := Parse([]string{name}, Modes{})
		if err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"Up": "\x1bOA", "Left": "\x1bOD", "Home": "\x1bOH", "C-Up": "\x1b[1;5A", "PageUp": "\x1b[5~", "F1": "\x1bOP", "Enter": "\r", "x": "x"} {
		if got, err := Parse([]string{name}, Modes{AppCursor: true}); err != nil || string(got) != want {
			t.Errorf("application mode, %s: %q %v, want %q", name, got, err, want)
		}
	}
	if got, err := Parse([]string{"Escape", ":", "w", "q", "Enter"}, Modes{}); err != nil || string(got) != "\x1b:wq\r" {
		t.Errorf("%q %v", got, err)
	}
	if got, err := Parse(nil, Modes{}); err != nil || got != nil {
		t.Errorf("nothing: %q %v", got, err)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "unknown", "Entr": "unknown Enter", "pageupp": "unknown PageUp", "Escpe": "unknown Escape", "hello": "unknown", "C-": "unknown", "C-Foo": "unknown",
		"F21": "unknown F", "F0": "unknown", "Backspce": "unknown BSpace", "Del ": "unknown Delete", "\x03": "unknown", "\x1b": "unknown", "\xff": "unknown", "Pa": "unknown PageUp, PageDown",
		"C-中": "modifier", "C-;": "modifier", "S-1": "modifier", "C-Tab": "modifier", "C-C-c": "modifier", "M-Alt-x": "modifier", "S-BTab": "modifier",
		"hex:": "hex", "hex:1": "hex", "hex:zz": "hex",
		strings.Repeat("x", 10_000): "unknown",
	} {
		got, err := Parse([]string{"a", name}, Modes{})
		var e *Error
		if !errors.As(err, &e) || got != nil {
			t.Errorf("%.20q: %q, %v", name, got, err)
			continue
		}
		code, names, _ := strings.Cut(want, " ")
		if e.Code != "executor_keys."+code {
			t.Errorf("%.20q: %s, want %s", name, e.Code, want)
		}
		if code == "unknown" && (e.Args[1] == "" || !strings.HasPrefix(e.Args[1].(string), names)) {
			t.Errorf("%.20q: nearest are %q, want %s", name, e.Args[1], names)
		}
		if len(e.Args[0].(string)) > 50 {
			t.Errorf("%.20q: %d bytes in the error", name, len(e.Args[0].(string)))
		}
	}
	for _, names := range [][]string{make([]string, MaxKeys+1), {"hex:" + strings.Repeat("00", MaxBytes+1)}} {
		if _, err := Parse(names, Modes{}); err == nil {
			t.Error("no bound")
		}
	}
}

// TestNamesAreKeys holds that every name that is suggested is one.
func TestNamesAreKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range named() {
		for _, name := range k.names {
			if lower := strings.ToLower(name); seen[lower] {
				t.Errorf("%s twice", name)
			} else {
				seen[lower] = true
			}
		}
	}
	for _, name := range append(Names(), nearest("zzzzzzzz")...) {
		if _, err := Parse([]string{name}, Modes{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, plain, framed string }{
		{"a", "a", "a"}, {"", "", ""}, {"a\nb\r\nc\rd", "a\rb\rc\rd", "a\nb\nc\rd"},
		{"a\x1b[201~b\x1b[200~c", "a\x1b[201~b\x1b[200~c", "abc"},
		{"a\x1b[20\x1b[201~1~b", "a\x1b[20\x1b[201~1~b", "ab"},
		{"a\u009b201~b", "a\u009b201~b", "ab"},
		{"雛201~", "雛201~", "雛201~"}, {"~", "~", "~"},
	} {
		if got, err := Paste(c.in, false); err != nil || string(got) != c.plain {
			t.Errorf("%q: %q %v, want %q", c.in, got, err, c.plain)
		}
		if got, err := Text(c.in); err != nil || string(got) != c.plain {
			t.Errorf("text %q: %q %v, want %q", c.in, got, err, c.plain)
		}
		if got, err := Paste(c.in, true); err != nil || string(got) != "\x1b[200~"+c.framed+"\x1b[201~" {
			t.Errorf("framed %q: %q %v, want %q", c.in, got, err, c.framed)
		}
	}
	if _, err := Paste(strings.Repeat("x", MaxBytes+1), true); err == nil {
		t.Error("no bound")
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("C-c", "a\x1b[201~")
	f.Add("hex:00", "\x1b[20\x1b[200~1~")
	f.Fuzz(func(t *testing.T, name, text string) {
		if got, err := Parse([]string{name}, Modes{}); (err == nil) != (len(got) > 0) {
			t.Errorf("%q: %q %v", name, got, err)
		}
		if got, err := Paste(text, true); err == nil && strings.Index(string(got), pasteEnd) != len(got)-len(pasteEnd) {
			t.Errorf("%q ends its frame: %q", text, got)
		}
	})
}

// TestEveryCodeHasText compares the codes with the catalogs.
func TestEveryCodeHasText(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`"(executor_keys\.[a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, lang := range []string{"en", "zh"} {
		catalog, err := texts.New(lang)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if text := catalog.Say(id[1], "one", "two"); strings.Contains(text, id[1]) || strings.Contains(text, "%[") || text == "" {
				t.Errorf("%s: %s: %q", lang, id[1], text)
			}
		}
	}
}

package channels_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/maishell/maishell/channels"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "héllo 磁盘 👩‍💻\n\ttab", "héllo 磁盘 👩‍💻\n\ttab"},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"title", "\x1b]0;owned\a", `\x1b]0;owned\x07`},
		{"c1 csi", "\u009b2J", `\u009b2J`},
		{"lone cr", "safe\rrm", `safe\x0drm`},
		{"crlf", "a\r\nb", "a\nb"},
		{"cr crlf", "a\r\r\nb", "a\\x0d\nb"},
		{"not utf-8", "a\xff\x9b", `a\xff\x9b`},
		{"nul del backspace", "\x00\x7f\b", `\x00\x7f\x08`},
		{"replacement character itself", "\uFFFD", "\uFFFD"},
		{"order turned round", "a\u202egnp.exe\u2066x", `a\u202egnp.exe\u2066x`},
		{"right to left by nature", "שלום \u200fאב", "שלום \u200fאב"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := channels.Printable(c.in); got != c.want {
				t.Errorf("Printable(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestReveal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string
		changed        bool
	}{
		{"plain", "rm -rf ./x\n\techo 'é磁'", "rm -rf ./x\n\techo 'é磁'", false},
		{"bidi override", "echo \u202egnp.sh", `echo \u202egnp.sh`, true},
		{"isolate", "\u2066x\u2069", `\u2066x\u2069`, true},
		{"zero width", "r\u200bm\ufeff", `r\u200bm\ufeff`, true},
		{"no-break and wide space", "a\u00a0b\u3000c", `a\u00a0b\u3000c`, true},
		{"line separator", "a\u2028b", `a\u2028b`, true},
		{"tag character", "a\U000e0041", `a\U000e0041`, true},
		{"filler letter", "a\u3164b\u115f", `a\u3164b\u115f`, true},
		{"blank braille", "a\u2800b", `a\u2800b`, true},
		{"cr lf", "a\r\nb", "a\\x0d\nb", true},
		{"escape", "\x1b[2J", `\x1b[2J`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, changed := channels.Reveal(c.in)
			if got != c.want || changed != c.changed {
				t.Errorf("Reveal(%q) = %q, %v, want %q, %v", c.in, got, changed, c.want, c.changed)
			}
		})
	}
	if got := channels.RevealLine("a\nb\tc"); got != `a\x0ab\x09c` {
		t.Errorf("RevealLine = %q", got)
	}
}

func TestPrintableProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).
			Draw(t, "s")
		got := channels.Printable(s)
		if channels.Printable(got) != got {
			t.Fatalf("not idempotent: %q", got)
		}
		shown, _ := channels.Reveal(s)
		for _, out := range []string{got, shown} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool {
				return r != '\n' && r != '\t' && unicode.IsControl(r)
			}) {
				t.Fatalf("unsafe: %q", out)
			}
		}
	})
}

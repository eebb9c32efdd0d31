package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// hostile returns texts of about n bytes that repeat one construct, closed and unclosed.
func hostile(n int) map[string]string {
	out := map[string]string{}
	for _, unit := range [][2]string{
		{"((", "))"}, {"(", ")"}, {"$(", ")"}, {"$((", "))"}, {"{ ", "; }"}, {"${x:-", "}"}, {"`", "`"}, {"[[ ( ", ") ]]"},
		{"if ", "; fi"}, {"while ", ""}, {"case x in a) ", ""}, {"a&&", "a"}, {"a|", "a"}, {"a;", ""}, {"a\n", ""}, {"<<E ", ""},
		{"$((1+", "1))"}, {"1+", ""}, {"\\\n", ""}, {"'", "'"}, {"\"", ""}, {"\"$(", ")\""}, {"{a,", "}"}, {"{a,b}", ""},
		{"x=", ""}, {"a ", ""}, {"<(", ")"}, {"a[", "]"}, {"${a[", "]}"}, {"$[", "]"}, {"!", ""}, {"time ", "a"}, {"f() ", ""},
		{"#\n", ""}, {">a ", ""}, {"$a", ""}, {"@(", ")"}, {"let x=", ""}, {"a=(", ")"}, {"<<E\nE\n", ""}, {"a <<E; ", ""},
		{"k=a; $k;", ""}, {"x=$((x+1));", ""}, {"sh -c '", "'"}, {"env ", "a"}, {"eval ", "a"}, {"sudo env ", "a"},
		{"bash <<E\n", ""}, {"for x in ", ""}, {"a #\\\n", ""}, {"$\\\n(", ")"}, {"[[ a && ", "a ]]"}, {"\\", ""}, {"~/", ""},
		{"find -exec ", ""}, {"{1..9}", ""}, {"awk '/", ""}, {"a=b ", ""},
	} {
		k := n / (len(unit[0]) + len(unit[1]))
		out[unit[0]] = strings.Repeat(unit[0], n/len(unit[0]))
		out[unit[0]+unit[1]] = strings.Repeat(unit[0], k) + "a" + strings.Repeat(unit[1], k)
		out["echo $((1"+unit[0]] = "echo $((1" + strings.Repeat(unit[0], n/len(unit[0])) + "1))"
		out["sed '"+unit[0]] = "sed '" + strings.Repeat(unit[0], n/len(unit[0])) + "'"
	}
	return out
}

// TestTimeIsBounded allows much more than an idle machine needs (10 and 90 ms), and the best of some tries counts, so that
// a busy one does not fail it.
func TestTimeIsBounded(t *testing.T) {
	for _, tt := range []struct {
		bytes int
		limit time.Duration
	}{{16 << 10, 200 * time.Millisecond}, {MaxBytes - 100, 1500 * time.Millisecond}} {
		if testing.Short() && tt.bytes > 16<<10 {
			continue // the race detector makes it ten times as long, and says nothing about time
		}
		for name, text := range hostile(tt.bytes) {
			for _, d := range []Dialect{POSIX, Bash} {
				if d == POSIX && tt.bytes > 16<<10 {
					continue
				}
				var took time.Duration
				var err error
				for range 10 {
					start := time.Now()
					_, err = Parse(text, d)
					if took = time.Since(start); took <= tt.limit {
						break
					}
				}
				if took > tt.limit {
					t.Errorf("%s %d bytes of %q: %v (%v)", d, tt.bytes, name, took, err)
				}
			}
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"(", "((", "$(", "{ ", "if ", "\"$(", "${x:-"} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		var r *RefusedError
		if _, err := Parse(text, Bash); !errors.As(err, &r) || r.Code != "policy.too_long" {
			t.Errorf("a million bytes of %q: %v", unit, err)
		}
		if _, err := Parse(text[:100_000/len(unit)*len(unit)], Bash); !errors.As(err, &r) || r.Code != "policy.too_deep" {
			t.Errorf("100,000 bytes of %q: %v", unit, err)
		}
	}
	// What people nest is fine.
	deep := strings.Repeat("(", 40) + "a" + strings.Repeat(")", 40)
	if strings.Contains(deep, "((") {
		deep = strings.Repeat("( ", 40) + "a" + strings.Repeat(" )", 40) + strings.Repeat("; true", 100)
	}
	if a := mustParse(t, deep, Bash); !a.Runs("a") || a.Opaque {
		t.Error("40 subshells were not read")
	}
	if a := mustParse(t, "cat > f <<'E'\n"+strings.Repeat("(((({{{{[[[[\n", 5000)+"E", Bash); a.Opaque {
		t.Error("brackets in a quoted here-document count as nesting")
	}
}

func TestInnerTextsAreBounded(t *testing.T) {
	t.Parallel()
	text := "zz"
	for range 12 {
		text = "sh -c '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		if len(text) > MaxBytes/2 {
			break
		}
		if a := mustParse(t, text, Bash); !a.Runs("zz") {
			t.Fatalf("zz is ruled out in %d bytes", len(text))
		}
	}
	many := strings.Repeat("sh -c 'a b'; ", 2000) + "sh -c zz"
	if a := mustParse(t, many, Bash); !a.Runs("zz") {
		t.Error("zz is ruled out behind many inner texts")
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for range 200 {
				if a := mustParse(t, "k=a; $k | sh -c 'b'", Dialect(i%2)); !a.Runs("a") || !a.Runs("b") || a.Runs("c") {
					t.Fatal("wrong commands")
				}
			}
		})
	}
}

// TestMoreTextNeverHidesCommands: what a text runs it also runs when something stands before or behind it.
func TestMoreTextNeverHidesCommands(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom([]string{
		"zz", "zz a", "echo $(zz)", "k=zz; $k", "if a; then zz; fi", "a | zz", "sh -c zz", "eval 'zz'", "f() { zz; }; f", "k=b",
		"for i in 1 2; do zz; done", "cat <<E\n$(zz)\nE\n", "[[ -f a ]] && zz", "sudo zz", "read k", "echo 'x'", "x=$((1+1))",
		"trap zz EXIT", "unset k", "# c", "a \\\n zz", "{ zz; } > f",
	})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(pieces, 1, 5).Draw(t, "parts")
		sep := rapid.SampledFrom([]string{"\n", "\n\n"}).Draw(t, "sep")
		text := ""
		runs := false
		for _, p := range parts {
			one, err := Parse(p, Bash)
			if err != nil {
				t.Fatalf("%q: %v", p, err)
			}
			runs = runs || one.Runs("zz")
			text += p + sep
			all, err := Parse(text, Bash)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if runs && !all.Runs("zz") {
				t.Fatalf("%q rules zz out", text)
			}
		}
	})
}

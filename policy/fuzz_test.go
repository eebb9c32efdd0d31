package policy

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"echo hi", "k=a; $k b", "sh -c 'a' <<< b | c", "cat <<-E\n\t$x\n\tE", "[[ a =~ b ]] && ((x++)); let y=1",
		"for i in {1..3}; do echo ${a[i]}; done", "case x in a|b) c;; esac", "find . -exec a {} +", "env -i A=b c", "f() { a; }; f &",
		"echo $'a\\x41' \"${x:-$(y)}\" `z`", "declare -A m=([a]=b)", "a \\\n b # c\\\nd", "trap 'a' EXIT; eval b", "x=$((1+$(date +%s)))",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	if file, err := os.Open("testdata/differentials.txt"); err == nil {
		defer file.Close()
		for sc := bufio.NewScanner(file); sc.Scan(); {
			if s, err := strconv.Unquote(sc.Text()); err == nil {
				f.Add(s, true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, bash bool) {
		d := POSIX
		if bash {
			d = Bash
		}
		// A text that never ends would only stop the fuzzing: name it.
		watch := time.AfterFunc(5*time.Second, func() { panic(fmt.Sprintf("still reading %q", text)) })
		defer watch.Stop()
		a, err := Parse(text, d)
		if err != nil {
			var p *ParseError
			var r *RefusedError
			if !errors.As(err, &p) && !errors.As(err, &r) {
				t.Fatalf("an error of another kind: %v", err)
			}
			if errors.As(err, &r) && r.Code == "policy.unreadable" {
				t.Fatalf("a panic was caught")
			}
			return
		}
		again, err := Parse(a.Canonical, d)
		if err != nil {
			t.Fatalf("the canonical text %q is refused: %v", a.Canonical, err)
		}
		if again.Canonical != a.Canonical {
			t.Fatalf("canonical %q becomes %q", a.Canonical, again.Canonical)
		}
		if strings.HasSuffix(text, "\\") {
			return // would go on in the next line
		}
		// One more command never removes any.
		more, err := Parse(text+"\nzz", d)
		if err != nil || more.Opaque || a.Opaque {
			return
		}
		have := strings.Join(show(more), "\x00")
		for _, c := range show(a) {
			if !strings.Contains(have, strings.TrimPrefix(c, "~")) {
				t.Fatalf("%q is gone once a command follows: %q", c, have)
			}
		}
	})
}

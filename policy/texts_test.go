package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/maishell/maishell/texts"
)

// TestEveryCodeHasWords finds the codes in the sources, so that a new one cannot be forgotten.
func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`"(policy\.[a-z_0-9]+)"`)
	found := map[string]bool{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
	}
	if len(found) < 20 {
		t.Fatalf("only %d codes found", len(found))
	}
	for _, lang := range []string{"en", "zh"} {
		catalog, err := texts.New(lang)
		if err != nil {
			t.Fatal(err)
		}
		for id := range found {
			if said := catalog.Say(id, 1, 2, 3, 4); said == "" || strings.Contains(said, id) {
				t.Errorf("%s: no words for %s", lang, id)
			}
		}
	}
	for text, want := range map[string]string{
		"ls \x00": "line 1, column 4", "echo 'a": "bash: line 1, column 6: syntax error: ", "rm\u200b": "U+200B",
		strings.Repeat("a", MaxBytes+1): "128000",
	} {
		_, err := Parse(text, Bash)
		catalog, cerr := texts.New("en")
		if cerr != nil {
			t.Fatal(cerr)
		}
		if said := catalog.Error(err); !strings.Contains(said, want) {
			t.Errorf("%.20q: %q, want %q", text, said, want)
		}
	}
}

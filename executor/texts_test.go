package executor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/maishell/maishell/texts"
)

// TestEveryCodeHasText compares the codes in the source of all systems with the catalogs.
func TestEveryCodeHasText(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`= +"(executor\.[a-z_]+)"`)
	var ids []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range code.FindAllStringSubmatch(string(source), -1) {
			ids = append(ids, match[1])
		}
	}
	for _, lang := range []string{"en", "zh"} {
		catalog, err := texts.New(lang)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if text := catalog.Say(id, "one", "two"); text == "" || strings.Contains(text, id) || strings.Contains(text, "%[") {
				t.Errorf("%s has no text in %s: %q", id, lang, text)
			}
		}
		raw, err := os.ReadFile(filepath.Join("..", "texts", lang, "executor.toml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^([a-z_]+) =`).FindAllStringSubmatch(string(raw), -1) {
			if !slices.Contains(ids, "executor."+match[1]) {
				t.Errorf("%s: no error has the code executor.%s", lang, match[1])
			}
		}
	}
	catalog, err := texts.New("zh")
	if err != nil {
		t.Fatal(err)
	}
	if got := catalog.Error(&Error{Code: codeCwdMissing, Args: []any{"/x"}}); got != "工作目录不存在：/x" {
		t.Errorf("%q", got)
	}
}

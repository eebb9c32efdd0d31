package pty

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/maishell/maishell/texts"
)

func TestSizeCheck(t *testing.T) {
	t.Parallel()
	for _, size := range []Size{{1, 1}, {MaxSize, MaxSize}, DefaultSize()} {
		if err := size.Check(); err != nil {
			t.Errorf("%v: %v", size, err)
		}
	}
	for _, size := range []Size{{}, {0, 1}, {1, 0}, {-1, 5}, {MaxSize + 1, 5}, {5, MaxSize + 1}} {
		var e *Error
		if _, err := Open(size); !errors.As(err, &e) || e.Code != codeSize {
			t.Errorf("%v: %v", size, err)
		}
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		openError(os.ErrNotExist): true, &Error{Code: codeLimit}: true, &Error{Code: codeFull}: false, os.ErrNotExist: false,
	} {
		if Unavailable(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

// TestEveryCodeHasText compares the codes with the catalogs.
func TestEveryCodeHasText(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`= "(executor_pty\.[a-z]+)"`).FindAllSubmatch(source, -1) {
			ids[string(match[1])] = true
		}
	}
	if len(ids) == 0 {
		t.Fatal("no code found")
	}
	for _, lang := range []string{"en", "zh"} {
		catalog, err := texts.New(lang)
		if err != nil {
			t.Fatal(err)
		}
		for id := range ids {
			if text := catalog.Say(id, "one", "two", "three"); text == "" || strings.Contains(text, id) || strings.Contains(text, "%[") {
				t.Errorf("%s: %s: %q", lang, id, text)
			}
		}
	}
}

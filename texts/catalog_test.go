package texts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
)

type textError struct {
	id   string
	args []any
	err  error
}

func (e *textError) Error() string           { return "plain " + e.id }
func (e *textError) TextID() (string, []any) { return e.id, e.args }
func (e *textError) Unwrap() error           { return e.err }

func mustNew(t testing.TB, lang string) *Catalog {
	t.Helper()
	c, err := New(lang)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNewKnowsTwoLanguages(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh"} {
		if got := mustNew(t, lang).Lang(); got != lang {
			t.Errorf("Lang() = %q, want %q", got, lang)
		}
	}
	for _, lang := range []string{"", "de", "EN", "zh-CN", "../en"} {
		if _, err := New(lang); err == nil {
			t.Errorf("New(%q) gave no error", lang)
		}
	}
}

func TestSay(t *testing.T) {
	t.Parallel()
	en, zh := mustNew(t, "en"), mustNew(t, "zh")
	tests := []struct {
		name string
		c    *Catalog
		id   string
		args []any
		want string
	}{
		{"number is not grouped", en, "config.missing", []any{1234567}, "1234567: there is no such configuration file"},
		{"chinese", zh, "config.missing", []any{"a.toml"}, "a.toml：找不到该配置文件"},
		{"percent in an arg", en, "config.missing", []any{"100%d"}, "100%d: there is no such configuration file"},
		{"error as arg", en, "config.missing", []any{errors.New("x")}, "x: there is no such configuration file"},
		{"unknown", en, "no.such_id", []any{1}, "no.such_id"},
		{"unknown with a verb", en, "50%d", nil, "50%d"},
		{"nil catalog", nil, "config.missing", nil, "config.missing"},
	}
	for _, tt := range tests {
		if got := tt.c.Say(tt.id, tt.args...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSayIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	c := mustNew(t, "en")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				if got, want := c.Say("config.missing", i), fmt.Sprint(i, ": there is no such configuration file"); got != want {
					t.Errorf("%q, want %q", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestError(t *testing.T) {
	t.Parallel()
	c := mustNew(t, "en")
	inner := &textError{id: "config.missing", args: []any{"x"}}
	const said = "x: there is no such configuration file"
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"nil", nil, ""},
		{"plain", errors.New("plain"), "plain"},
		{"worded", inner, said},
		{"wrapped", fmt.Errorf("a: %w", inner), said},
		{"first of the chain", &textError{id: "config.missing", args: []any{"y"}, err: inner}, "y: there is no such configuration file"},
		{"one without an id is passed over", &textError{err: inner}, said},
		{"no id at all", &textError{}, "plain "},
		{"several", errors.Join(inner, errors.New("plain"), inner), said + "\nplain\n" + said},
		{"several, wrapped", fmt.Errorf("load: %w", errors.Join(inner, inner)), said + "\n" + said},
		{"several without an id", fmt.Errorf("a %w b %w", errors.New("x"), errors.New("y")), "a x b y"},
		{"worded arg", &textError{id: "config.missing", args: []any{inner}}, said + ": there is no such configuration file"},
	}
	for _, tt := range tests {
		if got := c.Error(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		env    map[string]string
		system string
		want   string
	}{
		{map[string]string{"LANG": "zh_CN.UTF-8"}, "", "zh"},
		{map[string]string{"LANG": "zh"}, "", "zh"},
		{map[string]string{"LANG": "zh-Hans-CN"}, "", "zh"},
		{map[string]string{"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "", "en"},
		{map[string]string{"LC_MESSAGES": "zh_TW", "LANG": "en_US.UTF-8"}, "", "zh"},
		{map[string]string{"LC_ALL": "", "LANG": "de_DE"}, "zh-CN", "en"},
		{map[string]string{"LANG": "zhx"}, "", "en"},
		{nil, "zh-CN", "zh"},
		{nil, "", "en"},
	}
	for _, tt := range tests {
		got := detect(func(k string) string { return tt.env[k] }, func() string { return tt.system })
		if got != tt.want {
			t.Errorf("detect(%v, %q) = %q, want %q", tt.env, tt.system, got, tt.want)
		}
	}
	if got := Detect(func(k string) string { return map[string]string{"LANG": "zh_CN"}[k] }); got != "zh" {
		t.Errorf("Detect = %q, want zh", got)
	}
}

func TestLoadRefusesBadFiles(t *testing.T) {
	t.Parallel()
	for name, fsys := range map[string]fstest.MapFS{
		"an id in two files": {"en/a.toml": {Data: []byte("[t]\nk = \"1\"")}, "en/b.toml": {Data: []byte("[t]\nk = \"2\"")}},
		"an id twice":        {"en/a.toml": {Data: []byte("[t]\nk = \"1\"\nk = \"2\"")}},
		"a list of tables":   {"en/a.toml": {Data: []byte("[[t]]\nk = \"1\"")}},
		"a dotted key":       {"en/a.toml": {Data: []byte("[t]\nk.l = \"1\"")}},
		"a number":           {"en/a.toml": {Data: []byte("[t]\nk = 1")}},
		"no table":           {"en/a.toml": {Data: []byte("k = \"1\"")}},
		"a nested table":     {"en/a.toml": {Data: []byte("[t.u]\nk = \"1\"")}},
		"not TOML":           {"en/a.toml": {Data: []byte("[t\n")}},
	} {
		if _, err := load(fsys, "en"); err == nil || !strings.Contains(err.Error(), "en") {
			t.Errorf("%s: error %v, want one naming the file", name, err)
		}
	}
}

var (
	idForm       = regexp.MustCompile(`^[a-z_]+\.[a-z0-9_.]+$`)
	placeholder  = regexp.MustCompile(`%\[(\d+)\]s`)
	otherPercent = regexp.MustCompile(`%([^%]|$)`)
)

func TestLanguagesAgree(t *testing.T) {
	t.Parallel()
	en, err := load(files, "en")
	if err != nil {
		t.Fatal(err)
	}
	zh, err := load(files, "zh")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range disagreements(en, zh) {
		t.Error(p)
	}
}

func TestEveryTextCanBeSaid(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh"} {
		c := mustNew(t, lang)
		for id, text := range c.texts {
			args := make([]any, len(placeholders(text)))
			for i := range args {
				args[i] = fmt.Sprintf("<%d>", i+1)
			}
			said := c.Say(id, args...)
			want := strings.ReplaceAll(placeholder.ReplaceAllString(text, "<$1>"), "%%", "%")
			if said != want {
				t.Errorf("%s %s: %q, want %q", lang, id, said, want)
			}
		}
	}
}

func TestDisagreementsAreFound(t *testing.T) {
	t.Parallel()
	en := map[string]string{"a.ok": "x %[1]s 5%%", "a.only_en": "x", "a.args": "%[1]s %[2]s", "a.empty": "x", "a.verb": "%s", "a.macro": "${x}", "a.Bad": "x"}
	zh := map[string]string{"a.ok": "好 %[1]s 5%%", "a.only_zh": "x", "a.args": "%[1]s", "a.empty": " ", "a.verb": "%s", "a.macro": "x", "a.Bad": "x"}
	all := strings.Join(disagreements(en, zh), "\n")
	for _, id := range []string{"a.only_en", "a.only_zh", "a.args", "a.empty", "a.verb", "a.macro", "a.Bad"} {
		if !strings.Contains(all, id+":") {
			t.Errorf("%s was not reported", id)
		}
	}
	if strings.Contains(all, "a.ok:") {
		t.Errorf("a.ok was reported: %s", all)
	}
}

// disagreements lists what is wrong with two catalogs that should say the same.
func disagreements(en, zh map[string]string) []string {
	var out []string
	for id := range zh {
		if _, ok := en[id]; !ok {
			out = append(out, id+": missing in en")
		}
	}
	for id, e := range en {
		z, ok := zh[id]
		if !ok {
			out = append(out, id+": missing in zh")
			continue
		}
		if !idForm.MatchString(id) {
			out = append(out, id+": not a valid id")
		}
		if a, b := placeholders(e), placeholders(z); !slices.Equal(a, b) {
			out = append(out, fmt.Sprintf("%s: placeholders %v in en, %v in zh", id, a, b))
		}
		for _, text := range []string{e, z} {
			out = append(out, flaws(id, text)...)
		}
	}
	return out
}

func placeholders(text string) []string {
	var out []string
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func flaws(id, text string) []string {
	var out []string
	if strings.TrimSpace(text) == "" {
		out = append(out, id+": empty text")
	}
	rest := strings.ReplaceAll(placeholder.ReplaceAllString(text, ""), "%%", "")
	if otherPercent.MatchString(rest) {
		out = append(out, id+": a percent sign that is neither %[N]s nor %%")
	}
	if strings.Contains(text, "${") {
		out = append(out, id+": ${ has a meaning for the catalog; word it differently")
	}
	return out
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New("zh"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSay(b *testing.B) {
	c := mustNew(b, "en")
	for b.Loop() {
		c.Say("config.missing", "x")
	}
}

func TestSystemErrors(t *testing.T) {
	t.Parallel()
	en, zh := mustNew(t, "en"), mustNew(t, "zh")
	_, missing := os.Open(filepath.Join(t.TempDir(), "x"))
	for _, tt := range []struct {
		c    *Catalog
		err  error
		want string
	}{
		{zh, missing, "：没有这个文件或目录"},
		{zh, &fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.ENOTDIR}, "mkdir /x: 不是目录"},
		{zh, fmt.Errorf("a: %w", fs.ErrPermission), "a: 没有权限（permission denied）"},
		{zh, &textError{id: "config.unreadable", args: []any{"f", syscall.ENOSPC}}, "f：无法读取：磁盘空间不足"},
		{zh, errors.Join(errors.New("x"), syscall.EROFS), "x\n文件系统是只读的"},
		{en, syscall.EISDIR, "is a directory"},
		{en, errors.New("x"), "x"},
		{nil, fs.ErrExist, fs.ErrExist.Error()},
	} {
		if got := tt.c.Error(tt.err); !strings.HasSuffix(got, strings.TrimPrefix(tt.want, "：")) {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestArity(t *testing.T) {
	t.Parallel()
	c := mustNew(t, "en")
	for id, want := range map[string]int{"config.missing": 1, "config.out_of_range": 5, "system.io": 0} {
		if n, ok := c.Arity(id); n != want || !ok {
			t.Errorf("Arity(%q) = %d, %v; want %d", id, n, ok, want)
		}
	}
	if _, ok := c.Arity("no.such_id"); ok {
		t.Error("an unknown id has an arity")
	}
}

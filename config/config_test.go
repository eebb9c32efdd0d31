package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"

	"github.com/maishell/maishell/texts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func builtinFile(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// place is a machine of its own: a current directory, a user's and a system's configuration directory.
type place struct{ dir, user, system string }

func newPlace(t testing.TB) place {
	t.Helper()
	root := t.TempDir()
	p := place{filepath.Join(root, "cwd"), filepath.Join(root, "user"), filepath.Join(root, "etc")}
	for _, d := range []string{p.dir, p.user, p.system} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p place) options(t testing.TB) Options {
	t.Helper()
	return Options{Defaults: builtinFile(t), Dir: p.dir, ConfigDir: p.user, System: p.system}
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLoad(t testing.TB, o Options) *Config {
	t.Helper()
	c, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// codes are the message ids of an error of Load.
func codes(t testing.TB, err error) []string {
	t.Helper()
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatalf("error %v is no Problems", err)
	}
	var out []string
	for _, p := range ps {
		out = append(out, p.Code)
	}
	return out
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, newPlace(t).options(t))
	want := &Config{
		ConfigVersion: 1,
		UI:            UI{Language: "auto"},
		LLM:           LLM{APIKeyEnv: "OPENAI_API_KEY", Stream: true, TimeoutSeconds: 240, MaxRetries: 3},
		Agent:         Agent{MaxRounds: 30, MaxParallelTools: 4, AskTimeoutSeconds: 300, ContextTokens: 50000, MaxTurnsPerMinute: 20},
		Subagent:      Subagent{Enabled: true, MaxRounds: 10, MaxResultChars: 8000, MaxParallelSubagents: 3},
		Permission:    Permission{Admins: []string{}, AdminGroups: []string{}, Users: []string{}, UserGroups: []string{}, Guests: "help", LocalRole: "admin"},
		Files:         Files{MaxReadBytes: 200000},
		Shell:         Shell{Enabled: true, TimeoutSeconds: 60, MaxTimeoutSeconds: 3600, MaxOutputChars: 8000, KillGraceMS: 200, EnvAllow: []string{}, Env: []string{}},
		Scripts:       Scripts{Enable: []string{"secrets"}, Required: []string{}, TimeoutMS: 50},
		Approval:      Approval{WaitSeconds: 120},
	}
	for _, f := range fields() {
		if d := cmp.Diff(want.value(f), c.value(f)); d != "" {
			t.Errorf("%s: %s", f.key, d)
		}
		if o := c.Origin(f.key); o != "default" {
			t.Errorf("origin of %s is %q", f.key, o)
		}
	}
	if len(c.Sources()) != 0 {
		t.Errorf("sources %v, want none", c.Sources())
	}
	if c.Origin("no.such_key") != "" {
		t.Error("a key that does not exist has an origin")
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := write(t, filepath.Join(p.dir, "config.toml"), "config_version = 1\n[shell]\ntimeout_seconds = 10\nmax_output_chars = 500\n"+
		"max_running = 3\n\n[ui]\nlanguage = \"zh\"\n[permission]\nadmins = [\"qq:1\", \"telegram:2\"]\n")
	o := p.options(t)
	o.Env = []string{
		"MAISHELL_SHELL__TIMEOUT_SECONDS=2.5", "MAISHELL_SHELL__MAX_RUNNING=1", "MAISHELL_SHELL__MAX_RUNNING=4", "MAISHELL_SHELL__ENABLED=off",
		"MAISHELL_PERMISSION__USERS=qq:5, qq:6,", "MAISHELL=1", "MAISHELL_RUN_ID=x", "MAISHELL_CONFIG=", "OTHER__X=1", "broken",
	}
	o.Flags = map[string]string{"shell.max_running": "5"}
	c := mustLoad(t, o)
	if c.Shell.TimeoutSeconds != 2.5 || c.Shell.MaxRunning != 5 || c.Shell.MaxOutputChars != 500 || c.Shell.Enabled || c.UI.Language != "zh" {
		t.Errorf("%+v %+v", c.Shell, c.UI)
	}
	if d := cmp.Diff([]string{"qq:5", "qq:6"}, c.Permission.Users); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"qq:1", "telegram:2"}, c.Permission.Admins); d != "" {
		t.Error(d)
	}
	for key, want := range map[string]string{
		"shell.timeout_seconds":     "MAISHELL_SHELL__TIMEOUT_SECONDS",
		"shell.max_running":         "flag",
		"shell.max_output_chars":    path + ":4",
		"ui.language":               path + ":8",
		"permission.admins":         path + ":10",
		"shell.max_timeout_seconds": "default",
	} {
		if got := c.Origin(key); got != want {
			t.Errorf("origin of %s is %q, want %q", key, got, want)
		}
	}
	if d := cmp.Diff([]string{path}, c.Sources()); d != "" {
		t.Error(d)
	}
}

func TestSearchOrder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	rounds := func(n int) string { return fmt.Sprintf("[agent]\nmax_rounds = %d\n", n) }
	system := write(t, filepath.Join(p.system, "config.toml"), rounds(1))
	o := p.options(t)
	check := func(want int, source string) {
		t.Helper()
		c := mustLoad(t, o)
		if c.Agent.MaxRounds != want || !slices.Equal(c.Sources(), []string{source}) {
			t.Errorf("max_rounds %d from %v, want %d from %s", c.Agent.MaxRounds, c.Sources(), want, source)
		}
		if !slices.Contains(c.Candidates(), source) {
			t.Errorf("candidates %v lack %s", c.Candidates(), source)
		}
	}
	check(1, system)
	user := write(t, filepath.Join(p.user, "config.toml"), rounds(2))
	check(2, user)
	here := write(t, filepath.Join(p.dir, "config.toml"), rounds(3)+"config_version = 1\n")
	check(2, user) // [agent] config_version does not make it ours
	write(t, here, "# config_version = 1\nname = \"another project's\"\n[agent]\n")
	check(2, user)
	write(t, here, "'config_version' = 1\n"+rounds(3))
	check(3, here)
	named := write(t, filepath.Join(p.dir, "other.toml"), rounds(4))
	o.Env = []string{"MAISHELL_CONFIG=other.toml"}
	check(4, named)
	flagged := write(t, filepath.Join(p.dir, "third.toml"), rounds(5))
	o.Path = flagged
	check(5, flagged)
	if got := mustLoad(t, o).Candidates(); !slices.Contains(got, named) || !slices.Contains(got, here) || !slices.Contains(got, user) {
		t.Errorf("candidates %v lack a place", got)
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	big := write(t, filepath.Join(p.dir, "big.toml"), strings.Repeat("# x\n", maxFile/4)+"# y\n")
	tests := []struct {
		name string
		set  func(*Options)
		want string
	}{
		{"missing", func(o *Options) { o.Path = "nope.toml" }, "config.missing"},
		{"missing by variable", func(o *Options) { o.Env = []string{"MAISHELL_CONFIG=nope.toml"} }, "config.missing"},
		{"directory", func(o *Options) { o.Path = p.user }, "config.is_dir"},
		{"too big", func(o *Options) { o.Path = big }, "config.too_big"},
		{"device", func(o *Options) { o.Path = os.DevNull }, "config.not_regular"},
	}
	for _, tt := range tests {
		if os.DevNull != "/dev/null" && tt.name == "device" {
			continue
		}
		o := p.options(t)
		tt.set(&o)
		_, err := Load(o)
		if got := codes(t, err); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestForeignConfigTomlIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"other project": "[tool]\nx = 1\n", "not TOML": "}{", "empty": "", "binary": "\xff\xfe\x00", "huge": strings.Repeat("x = 1\n", maxFile),
	} {
		p := newPlace(t)
		write(t, filepath.Join(p.dir, "config.toml"), text)
		if c := mustLoad(t, p.options(t)); len(c.Sources()) != 0 {
			t.Errorf("%s: used %v", name, c.Sources())
		}
	}
	p := newPlace(t)
	if err := os.Mkdir(filepath.Join(p.dir, "config.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustLoad(t, p.options(t))
}

func TestOurBrokenConfigTomlIsAnError(t *testing.T) {
	t.Parallel()
	utf16 := []byte("\xff\xfe")
	for _, b := range []byte("config_version = 1\n") {
		utf16 = append(utf16, b, 0)
	}
	for want, text := range map[string]string{
		"config.syntax_open_bracket": "config_version = 1\n[shell\n",
		"config.bad_version":         "config_version = 9\n",
		"config.not_utf8":            string(utf16),
		"config.too_big":             "config_version = 1\n" + strings.Repeat("# x\n", maxFile/4),
	} {
		p := newPlace(t)
		write(t, filepath.Join(p.dir, "config.toml"), text)
		_, err := Load(p.options(t))
		if got := codes(t, err); !slices.Equal(got, []string{want}) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

func TestByteOrderMarkAndLineEndings(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options(t)
	o.Path = write(t, filepath.Join(p.dir, "x.toml"), "\xef\xbb\xbfconfig_version = 1\r\n\r\n[agent]\r\nmax_rounds = 7\r\n")
	if c := mustLoad(t, o); c.Agent.MaxRounds != 7 || c.Origin("agent.max_rounds") != o.Path+":4" {
		t.Errorf("%d from %s", c.Agent.MaxRounds, c.Origin("agent.max_rounds"))
	}
	write(t, o.Path, "\xef\xbb\xbfmax_round = 7")
	_, err := Load(o)
	if err == nil || !strings.Contains(err.Error(), o.Path+":1:1:") {
		t.Errorf("%v, want line 1 column 1", err)
	}
}

// TestGoldenErrors holds the texts of both languages for every file in testdata/bad.
func TestGoldenErrors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		o := newPlace(t).options(t)
		abs, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		o.Path = abs
		_, loadErr := Load(o)
		if loadErr == nil {
			t.Errorf("%s: no error", file)
			continue
		}
		var got strings.Builder
		for _, lang := range []string{"en", "zh"} {
			say, err := texts.New(lang)
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(strings.ReplaceAll(say.Error(fmt.Errorf("load: %w", loadErr)), abs, "FILE") + "\n")
		}
		golden := strings.TrimSuffix(file, ".toml") + ".golden"
		if *update {
			write(t, golden, got.String())
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got.String()); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

func TestBadVariablesAndFlags(t *testing.T) {
	t.Parallel()
	say, err := texts.New("en")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		env   string
		flags map[string]string
		want  string
	}{
		{env: "MAISHELL_SHELL__TIMEOUT=5", want: "MAISHELL_SHELL__TIMEOUT: this environment variable is no setting; did you mean MAISHELL_SHELL__TIMEOUT_SECONDS?"},
		{env: "MAISHELL_QUITE__OTHER=5", want: "MAISHELL_QUITE__OTHER: this environment variable is no setting; a setting is MAISHELL_SECTION__KEY with one of the sections [ui] [llm] [agent] [subagent] [permission] [files] [shell] [scripts] [approval] [store]"},
		{env: "MAISHELL_FILES__QWERTZ=5", want: "MAISHELL_FILES__QWERTZ: this environment variable is no setting; [files] has workspace, admin_open, max_read_bytes, written as in MAISHELL_FILES__WORKSPACE"},
		{env: "MAISHELL___=5", want: "MAISHELL___: this environment variable is no setting; a setting is MAISHELL_SECTION__KEY with one of the sections [ui] [llm] [agent] [subagent] [permission] [files] [shell] [scripts] [approval] [store]"},
		{env: "MAISHELL_SHELL__MAX_RUNNING=many", want: `MAISHELL_SHELL__MAX_RUNNING: shell.max_running must be a whole number, not "many"`},
		{env: "MAISHELL_SHELL__MAX_RUNNING=", want: `MAISHELL_SHELL__MAX_RUNNING: shell.max_running must be a whole number, not ""`},
		{env: "MAISHELL_SHELL__ENABLED=maybe", want: `MAISHELL_SHELL__ENABLED: shell.enabled must be true or false, not "maybe"`},
		{env: "MAISHELL_SHELL__TIMEOUT_SECONDS=1e9", want: "MAISHELL_SHELL__TIMEOUT_SECONDS: shell.timeout_seconds is 1000000000; it must be from 1 to 31536000"},
		{env: "MAISHELL_SHELL__TIMEOUT_SECONDS=NaN", want: "MAISHELL_SHELL__TIMEOUT_SECONDS: shell.timeout_seconds is NaN; it must be from 1 to 31536000"},
		{env: "MAISHELL_SHELL__TIMEOUT_SECONDS=4000", want: "MAISHELL_SHELL__TIMEOUT_SECONDS: shell.timeout_seconds (4000) must not be above shell.max_timeout_seconds (3600)"},
		{env: "MAISHELL_PERMISSION__ADMINS=qq:1,bob", want: `MAISHELL_PERMISSION__ADMINS: permission.admins, entry 2: "bob" must be platform:user_id (or platform:group:group_id in a list of groups)`},
		{flags: map[string]string{"shell.enable": "1"}, want: "flag shell.enable: unknown setting shell.enable; did you mean shell.enabled?"},
		{flags: map[string]string{"config_version": "1"}, want: "flag config_version: unknown setting config_version; settings are in the sections [ui] [llm] [agent] [subagent] [permission] [files] [shell] [scripts] [approval] [store]"},
	} {
		o := newPlace(t).options(t)
		o.Env, o.Flags = []string{tt.env}, tt.flags
		_, err := Load(o)
		if got := say.Error(err); got != tt.want {
			t.Errorf("%s %v:\n got %s\nwant %s", tt.env, tt.flags, got, tt.want)
		}
	}
}

func TestAllLayersReportTogether(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options(t)
	o.Path = write(t, filepath.Join(p.dir, "x.toml"), "[ui]\nlanguage = 1\n[x]\n")
	o.Env = []string{"MAISHELL_A__B=1"}
	o.Flags = map[string]string{"c.d": "1"}
	_, err := Load(o)
	want := []string{"config.want_text", "config.unknown_section", "config.unknown_variable", "config.unknown_key_outside"}
	if got := codes(t, err); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for in, want := range map[string]string{
		"~": base, "~/a/../b": filepath.Join(base, "b"), filepath.Join(base, "x", "..", "y"): filepath.Join(base, "y"),
	} {
		if got, ok := absolute(in, func() string { return base }); !ok || got != want {
			t.Errorf("absolute(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"a/b", ".", "~bob/x", "$HOME/x"} {
		if got, ok := absolute(in, func() string { return base }); ok {
			t.Errorf("absolute(%q) = %q", in, got)
		}
	}
	if _, ok := absolute("~/x", func() string { return "" }); ok {
		t.Error("~ without a home")
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"shell.timeout": "shell.timeout_seconds", "shell.timout_seconds": "shell.timeout_seconds", "timeout_seconds": "llm.timeout_seconds",
		"agent.timeout_seconds": "shell.timeout_seconds", "permission.admin": "permission.admins", "ui.lang": "ui.language",
		"files.workspcae": "files.workspace", "shell.max_output": "shell.max_output_chars", "config_versoin": "config_version",
		"x.y": "", "shell.colour": "", "": "", "web.listen": "",
	} {
		if got := nearest(in, keys()); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestFilesHoldEverySetting compares the two documented files with each other and with the settings.
func TestFilesHoldEverySetting(t *testing.T) {
	t.Parallel()
	en := builtinFile(t)
	zh, err := Default("zh", en)
	if err != nil {
		t.Fatal(err)
	}
	var a, b map[string]any
	if err := errors.Join(toml.Unmarshal(en, &a), toml.Unmarshal(zh, &b)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("en and zh differ: %s", d)
	}
	comments := map[string]map[string]string{"en": commentsOf(en), "zh": commentsOf(zh)}
	for lang, file := range map[string][]byte{"en": en, "zh": zh} {
		var got []string
		known := map[string]field{}
		for _, f := range fields() {
			known[f.key] = f
		}
		if bad := decode(lang, file, known, func(e entry) []*Problem { got = append(got, e.field.key); return nil }); len(bad) > 0 {
			t.Error(Problems(bad))
		}
		if d := cmp.Diff(keys(), got); d != "" {
			t.Errorf("%s: %s", lang, d)
		}
		for _, key := range keys() {
			if comments[lang][key] == "" {
				t.Errorf("%s: %s has no comment", lang, key)
			}
		}
	}
	if got, err := Default("en", en); err != nil || !bytes.Equal(got, en) {
		t.Error("en is not the built-in file", err)
	}
	if _, err := Default("fr", en); err == nil {
		t.Error("fr: no error")
	}
}

// TestCommentsNameTheRanges holds that what a file says about a range is what is checked.
func TestCommentsNameTheRanges(t *testing.T) {
	t.Parallel()
	for lang, file := range map[string][]byte{"en": builtinFile(t), "zh": chinese} {
		comments := commentsOf(file)
		for _, f := range fields() {
			said := strings.ReplaceAll(comments[f.key], ",", "")
			for _, e := range f.enum {
				if !strings.Contains(said, `"`+e+`"`) {
					t.Errorf("%s: %s does not name %q", lang, f.key, e)
				}
			}
			if f.ranged && f.max < 31536000 && f.key != "config_version" && (!strings.Contains(said, number(f.min)) || !strings.Contains(said, number(f.max))) {
				t.Errorf("%s: %s does not name %s to %s: %s", lang, f.key, number(f.min), number(f.max), said)
			}
		}
	}
}

func TestTagsAreSound(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range fields() {
		if f.name == "" || seen[f.key] {
			t.Errorf("%s: no name, or twice", f.key)
		}
		seen[f.key] = true
		if f.ranged && !(f.min < f.max) && f.key != "config_version" {
			t.Errorf("%s: range %v to %v", f.key, f.min, f.max)
		}
		if number := f.kind == reflect.Int || f.kind == reflect.Float64; number != f.ranged {
			t.Errorf("%s: numbers and only they need a range", f.key)
		}
		if !slices.Contains([]string{"", "timezone", "code_page", "url", "path", "person", "group", "name", "variable", "assignment"}, f.check) {
			t.Errorf("%s: unknown check %q", f.key, f.check)
		}
	}
}

func TestBrokenDefaults(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"none": "", "not TOML": "[", "a setting lacks": "config_version = 1\n", "wrong": "config_version = 1\nx = 1\n"} {
		if _, err := Load(Options{Defaults: []byte(text)}); err == nil || !strings.Contains(err.Error(), "built-in") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options(t)
	o.Path = write(t, filepath.Join(p.dir, "x.toml"), "[shell]\ntimeout_seconds = 1.5\nprogram = 'a \"b\"'\n[permission]\nadmins = ['qq:1']\n")
	c := mustLoad(t, o)
	var text, js bytes.Buffer
	if err := errors.Join(c.Show(&text, false), c.Show(&js, true)); err != nil {
		t.Fatal(err)
	}
	// What it prints is a configuration again, with the same values.
	o.Path = write(t, filepath.Join(p.dir, "y.toml"), text.String())
	again := mustLoad(t, o)
	for _, f := range fields() {
		if d := cmp.Diff(c.value(f), again.value(f)); d != "" {
			t.Errorf("%s: %s", f.key, d)
		}
	}
	if want := "timeout_seconds = 1.5"; !regexp.MustCompile(`(?m)^` + want + ` +# .*x\.toml:2$`).MatchString(text.String()) {
		t.Errorf("no line %q with its origin in\n%s", want, text.String())
	}
	var parsed struct {
		Sources  []string
		Settings map[string]shown
	}
	if err := json.Unmarshal(js.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(parsed.Settings)); len(got) != len(keys()) || len(parsed.Sources) != 1 {
		t.Errorf("%v", parsed)
	}
	if got := parsed.Settings["shell.timeout_seconds"]; got.Value != 1.5 || !strings.HasSuffix(got.Origin, "x.toml:2") {
		t.Errorf("%+v", got)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	raw, err := Schema(builtinFile(t))
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		string(builtinFile(t)):            true,
		"[shell]\ntimeout_seconds = 0.5":  false,
		"[shell]\ntimeout_seconds = 1.5":  true,
		"[shell]\ntimeout = 5":            false,
		"[ui]\nlanguage = \"fr\"":         false,
		"[permission]\nadmins = [1]":      false,
		"[permission]\nadmins = ['qq:1']": true,
		"[nonsense]":                      false,
		"config_version = 2":              false,
	} {
		var v map[string]any
		if err := toml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); (err == nil) != valid {
			t.Errorf("%.40q: %v, want valid = %v", text, err, valid)
		}
	}
	shell := s.Properties["shell"].Properties
	if d := shell["kill_grace_ms"].Description; !strings.Contains(d, "Milliseconds") {
		t.Errorf("description %q", d)
	}
	if string(shell["timeout_seconds"].Default) != "60" {
		t.Errorf("default %s", shell["timeout_seconds"].Default)
	}
}

func FuzzLoad(f *testing.F) {
	defaults := builtinFile(f)
	f.Add(string(defaults), "MAISHELL_UI__LANGUAGE=en")
	f.Add(string(chinese), "MAISHELL_SHELL__MAX_RUNNING=0x10")
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), "MAISHELL_X__Y=")
	}
	f.Add("shell.\"a.b\" = {c = [1, {d = 2}]}\n[[ui]]\n[[ui]]\n[a.b.c]\nx = 1979-05-27T07:32:00Z", "MAISHELL_A__B__C=1")
	say, err := texts.New("en")
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, env string) {
		o := Options{
			Defaults: defaults, Path: write(t, filepath.Join(dir, "f.toml"), text), Env: []string{env}, ConfigDir: filepath.Join(dir, "none"), System: filepath.Join(dir, "none"),
		}
		c, err := Load(o)
		if err == nil {
			if c.Shell.TimeoutSeconds > c.Shell.MaxTimeoutSeconds || c.Agent.MaxRounds < 1 || c.ConfigVersion != Version {
				t.Errorf("%q gave %+v", text, c)
			}
			return
		}
		var problems Problems
		if !errors.As(err, &problems) {
			t.Fatalf("%q: %v", text, err)
		}
		for _, p := range problems {
			if id, args := p.TextID(); say.Say(id, args...) == id || p.Where == "" {
				t.Errorf("%q: problem without text or place: %+v", text, p)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	o := newPlace(b).options(b)
	o.Path = write(b, filepath.Join(o.Dir, "config.toml"), string(o.Defaults))
	for b.Loop() {
		mustLoad(b, o)
	}
}

func TestPeekLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[ui]\nlanguage = \"zh\"\n":              "zh",
		"ui.language = 'en'\n":                   "en",
		"ui = {language = \"zh\"}\n":             "zh",
		"[ui]\nlanguage = \"zh\"\n[shell\nx":     "zh", // the rest is broken
		"[ui]\nlanguage = \"auto\"\n":            "",
		"[ui]\nlanguage = \"fr\"\n":              "",
		"[ui]\nlanguage = 7\n":                   "",
		"[agent]\nlanguage = \"zh\"\n":           "",
		"\xff\xfe[\x00":                          "",
		"":                                       "",
		"[ui]\n[[ui]]\nlanguage = [[[\n":         "",
		"# comment\n[ui] # x\n  language=\"zh\"": "zh",
	} {
		p := newPlace(t)
		o := p.options(t)
		o.Path = write(t, filepath.Join(p.dir, "x.toml"), text)
		if got := PeekLanguage(o); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		o.Env = []string{"MAISHELL_UI__LANGUAGE=en"}
		if got := PeekLanguage(o); got != "en" {
			t.Errorf("%q with the variable: %q", text, got)
		}
		o.Env = []string{"MAISHELL_UI__LANGUAGE=auto"}
		if got := PeekLanguage(o); got != "" {
			t.Errorf("%q with the variable auto: %q", text, got)
		}
	}
	o := newPlace(t).options(t)
	o.Path = "missing.toml"
	if got := PeekLanguage(o); got != "" {
		t.Errorf("a missing file: %q", got)
	}
}

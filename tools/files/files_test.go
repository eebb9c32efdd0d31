package files_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/files"
	"github.com/maishell/maishell/tools/internal/tooltest"
)

// ownFiles says that everything below dir is ours, and every file of the same identity.
type ownFiles struct{ dir string }

func (o ownFiles) Contains(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return real == o.dir || strings.HasPrefix(real, o.dir+string(filepath.Separator))
}

func (o ownFiles) ContainsFile(fi os.FileInfo) bool {
	found := false
	_ = filepath.Walk(o.dir, func(_ string, own os.FileInfo, err error) error {
		found = found || err == nil && os.SameFile(own, fi)
		return nil
	})
	return found
}

// env is a workspace with its surroundings.
type env struct {
	*tools.View
	t        *testing.T
	door     *tooltest.Door
	ws       string // workspace
	outside  string // some other directory, holds secret.txt
	own      string // our own directory, holds config.toml
	settings files.Settings
}

func setup(t *testing.T, role roles.Role, open bool) *env {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, door: &tooltest.Door{}, ws: filepath.Join(top, "ws"), outside: filepath.Join(top, "outside"), own: filepath.Join(top, "own")}
	for _, dir := range []string{e.ws, e.outside, e.own} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e.put(filepath.Join(e.outside, "secret.txt"), "outside\n")
	e.put(filepath.Join(e.own, "config.toml"), "own\n")
	e.settings = files.Settings{Workspace: e.ws, AdminOpen: open}
	e.build(role, nil)
	return e
}

func (e *env) build(role roles.Role, redact func(string) string) {
	e.t.Helper()
	cat := tooltest.Catalog(e.t, "en")
	rank := tooltest.NewRank(role)
	all, err := files.New(files.Options{Settings: func() files.Settings { return e.settings }, Own: ownFiles{e.own}, Role: rank.Of, Texts: cat, Redact: redact})
	if err != nil {
		e.t.Fatal(err)
	}
	e.View = tooltest.Registry(e.t, e.door, rank.Of, cat, all...).View(tooltest.Origin())
}

func (e *env) put(path, content string) {
	e.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) get(path string) string {
	e.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

func (e *env) link(to, at string) {
	e.t.Helper()
	if err := os.Symlink(to, filepath.Join(e.ws, at)); err != nil {
		e.t.Skipf("no symbolic links here: %v", err)
	}
	if fi, err := os.Lstat(filepath.Join(e.ws, at)); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		e.t.Skip("symbolic links do not last here")
	}
}

func (e *env) call(name string, kv ...any) tooltest.Answer {
	e.t.Helper()
	return tooltest.Call(e.t, e.View, name, tooltest.Args(e.t, kv...))
}

func (e *env) untouched() {
	e.t.Helper()
	if got := e.get(filepath.Join(e.outside, "secret.txt")); got != "outside\n" {
		e.t.Errorf("the file outside now holds %q", got)
	}
	if got := e.get(filepath.Join(e.own, "config.toml")); got != "own\n" {
		e.t.Errorf("the own file now holds %q", got)
	}
	for _, dir := range []string{e.outside, e.own} {
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
			e.t.Errorf("%s now holds %v (%v)", dir, names, err)
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.User, false)
	e.settings.MaxReadBytes = 20
	long := strings.Repeat("y", 50)
	e.put(filepath.Join(e.ws, "d", "a.txt"), "one\ntwo\nthree\nfour\nfive\nsix")
	e.put(filepath.Join(e.ws, "long.txt"), "a\n"+long+"\nb\n")
	e.put(filepath.Join(e.ws, "wide.txt"), strings.Repeat("界", 10))
	e.put(filepath.Join(e.ws, "bom.txt"), "\ufeffhi\n")
	e.put(filepath.Join(e.ws, "latin.txt"), "caf\xe9\n")
	e.put(filepath.Join(e.ws, "bin"), "ELF\x00\x01")
	e.put(filepath.Join(e.ws, "empty"), "")
	tests := []struct {
		args            []any
		content         string
		first, last     float64
		next            float64
		note            string
		truncated, blob bool
	}{
		{[]any{"path", "d/a.txt"}, "one\ntwo\nthree\nfour\n", 1, 4, 5, "continue with offset 5", true, false},
		{[]any{"path", "d/a.txt", "offset", 5}, "five\nsix", 5, 6, 0, "", false, false},
		{[]any{"path", "d/a.txt", "offset", "2", "limit", 2}, "two\nthree\n", 2, 3, 4, "offset 4", true, false},
		{[]any{"path", "d/a.txt", "offset", 6}, "six", 6, 6, 0, "", false, false},
		{[]any{"path", "d/a.txt", "offset", 7}, "", 0, 0, 0, "the file has 6 lines", false, false},
		{[]any{"path", "d/a.txt", "offset", 999}, "", 0, 0, 0, "the file has 6 lines", false, false},
		{[]any{"path", "long.txt"}, "a\n", 1, 1, 2, "continue with offset 2", true, false},
		{[]any{"path", "long.txt", "offset", 2}, long[:20], 2, 2, 3, "line 2 is longer than 20 bytes", true, false},
		{[]any{"path", "long.txt", "offset", 3}, "b\n", 3, 3, 0, "", false, false},
		{[]any{"path", "long.txt", "offset", 4}, "", 0, 0, 0, "the file has 3 lines", false, false},
		{[]any{"path", "wide.txt"}, "界界界界界界", 1, 1, 2, "longer than", true, false},
		{[]any{"path", "bom.txt"}, "hi\n", 1, 1, 0, "", false, false},
		{[]any{"path", "latin.txt"}, "caf\ufffd\n", 1, 1, 0, "not valid UTF-8", false, false},
		{[]any{"path", "bin"}, "", 0, 0, 0, "binary file of 5 bytes", false, true},
		{[]any{"path", "empty"}, "", 1, 1, 0, "", false, false},
		{[]any{"path", filepath.Join(e.ws, "d", "..", "d", "a.txt"), "limit", 1}, "one\n", 1, 1, 2, "", true, false},
	}
	num := func(a tooltest.Answer, key string) float64 { f, _ := a[key].(float64); return f }
	for _, tt := range tests {
		got := e.call("read_file", tt.args...)
		if got["success"] != true || got["content"] != tt.content || got["truncated"] != tt.truncated || (got["binary"] == true) != tt.blob {
			t.Errorf("%v: %v", tt.args, got)
		}
		if num(got, "first_line") != tt.first || num(got, "last_line") != tt.last || num(got, "next_offset") != tt.next || !strings.Contains(got.Text("note"), tt.note) {
			t.Errorf("%v: %v, want lines %v to %v, next %v, note %q", tt.args, got, tt.first, tt.last, tt.next, tt.note)
		}
	}
}

func TestReadLinesWiderThanTheBuffer(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.User, false)
	line := strings.Repeat("x", 64<<10) // exactly the buffer: the line end comes with the next piece
	e.put(filepath.Join(e.ws, "a"), line+"\n"+line)
	for offset, want := range map[int]string{1: line + "\n", 2: line} {
		got := e.call("read_file", "path", "a", "offset", offset, "limit", 1)
		if got["content"] != want {
			t.Errorf("line %d has %d bytes, want %d", offset, len(got.Text("content")), len(want))
		}
	}
	if got := e.call("read_file", "path", "a"); got["last_line"] != 2.0 || got["truncated"] != false {
		t.Errorf("last line %v, truncated %v", got["last_line"], got["truncated"])
	}
}

func TestReadMasksSecrets(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.User, false)
	e.settings.MaxReadBytes = 24
	e.build(roles.User, func(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "***") })
	e.put(filepath.Join(e.ws, "a"), "x\nkey: hunter2hunter2\nend")
	e.put(filepath.Join(e.ws, "cut"), "0123456789012345 hunter2hunter2")
	if got := e.call("read_file", "path", "a"); got["content"] != "x\nkey: ***\n" {
		t.Errorf("%v", got)
	}
	if got := e.call("read_file", "path", "cut"); got["content"] != "0123456789012345 " {
		t.Errorf("a secret across the cut: %v", got)
	}
}

func TestListDir(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.User, false)
	e.put(filepath.Join(e.ws, "b.txt"), "12345")
	e.put(filepath.Join(e.ws, "z", "deep.txt"), "")
	e.put(filepath.Join(e.ws, ".hidden"), "")
	names := func(a tooltest.Answer) string {
		var out []string
		for _, x := range a["entries"].([]any) {
			m := x.(map[string]any)
			out = append(out, m["name"].(string)+":"+m["type"].(string))
		}
		return strings.Join(out, " ")
	}
	got := e.call("list_dir")
	if names(got) != "z:dir b.txt:file" || got["total"] != 2.0 || !strings.Contains(got.Text("note"), "1 names that begin with a dot") {
		t.Errorf("%v", got)
	}
	if got := e.call("list_dir", "path", ".", "hidden", true); names(got) != "z:dir .hidden:file b.txt:file" {
		t.Errorf("%v", got)
	}
	if got := e.call("read_file", "path", "z"); names(got) != "deep.txt:file" {
		t.Errorf("a directory that is read: %v", got)
	}
	if got := e.call("list_dir", "path", "b.txt"); got["status"] != "invalid_argument" || !strings.Contains(got.Text("error"), "not a directory") {
		t.Errorf("%v", got)
	}
	for i := range 250 {
		e.put(filepath.Join(e.ws, "many", "f"+strconv.Itoa(i)), "")
	}
	got = e.call("list_dir", "path", "many")
	if n := len(got["entries"].([]any)); n != 200 || got["total"] != 250.0 || got["truncated"] != true || !strings.Contains(got.Text("note"), "200 of 250") {
		t.Errorf("%d entries, %v", n, got["note"])
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		role := roles.User
		if open {
			role = roles.Admin
		}
		e := setup(t, role, open)
		path := filepath.Join(e.ws, "new", "deep", "a.txt")
		step := func(content, mode, action string, effect guard.Effect, want string) {
			t.Helper()
			kv := []any{"path", "new/deep/a.txt", "content", content}
			if mode != "" {
				kv = append(kv, "mode", mode)
			}
			got := e.call("write_file", kv...)
			if got["success"] != true || got["action"] != action || got["bytes"] != float64(len(content)) || got["path"] != path {
				t.Fatalf("%v", got)
			}
			if now := e.get(path); now != want {
				t.Fatalf("the file holds %q, want %q", now, want)
			}
			acts := e.door.Actions()
			if last := acts[len(acts)-1]; last.Effects[0] != effect || last.Writes[0] != path {
				t.Fatalf("action %+v, want %s", last, effect)
			}
		}
		step("first, longer\n", "", "created", guard.Write, "first, longer\n")
		step("second\n", "overwrite", "overwritten", guard.Overwrite, "second\n")
		step("third\n", "append", "appended", guard.Write, "second\nthird\n")
		if got := e.call("write_file", "path", "new/deep/a.txt", "content", "x", "mode", "create"); got["status"] != "invalid_argument" || !strings.Contains(got.Text("error"), "exists already") {
			t.Errorf("%v", got)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		step("", "", "overwritten", guard.Overwrite, "")
		if fi, err := os.Stat(path); err != nil || filepath.Separator == '/' && fi.Mode().Perm() != 0o600 {
			t.Errorf("mode %v (%v), want it kept", fi.Mode(), err)
		}
		if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
			t.Errorf("left behind: %v", names)
		}
		for _, tt := range []struct{ path, want string }{
			{".", "is a directory"}, {"new", "is a directory"}, {"new/deep/a.txt/b", "needs a directory"}, {"new/deep/a.txt/b/c", "needs a directory"}, {"", "not a usable path"}, {"a\x00b", "not a usable path"},
		} {
			if got := e.call("write_file", "path", tt.path, "content", "x"); got["status"] != "invalid_argument" || !strings.Contains(got.Text("error"), tt.want) {
				t.Errorf("open %v, %q: %v, want %q", open, tt.path, got, tt.want)
			}
		}
		e.untouched()
	}
}

func TestHardLinksKeepTheirOtherName(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.User, false)
	e.put(filepath.Join(e.ws, "a"), "old, and longer")
	if err := os.Link(filepath.Join(e.ws, "a"), filepath.Join(e.ws, "b")); err != nil {
		t.Skip(err)
	}
	if got := e.call("write_file", "path", "b", "content", "new"); got["action"] != "overwritten" {
		t.Fatalf("%v", got)
	}
	if got := e.get(filepath.Join(e.ws, "a")); got != "new" {
		t.Errorf("the other name holds %q", got)
	}
}

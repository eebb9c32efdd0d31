package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools/files"
	"github.com/maishell/maishell/tools/internal/tooltest"
)

// evasions are ways to name a file that is not below the workspace. They are made in e.ws.
func evasions(e *env, target string) map[string]string {
	rel, err := filepath.Rel(e.ws, target)
	if err != nil {
		e.t.Fatal(err)
	}
	e.link(target, "abs_link")
	e.link(rel, "rel_link")
	e.link(filepath.Dir(target), "dir_link")
	e.link("dir_link", "second_link")
	e.put(filepath.Join(e.ws, "sub", "x"), "")
	base := filepath.Base(target)
	return map[string]string{
		"absolute":         target,
		"parent":           rel,
		"parent by sub":    "sub/../" + rel,
		"absolute by dots": e.ws + "/../" + filepath.Base(filepath.Dir(target)) + "/" + base,
		"sibling prefix":   e.ws + "x/../" + filepath.Base(filepath.Dir(target)) + "/" + base,
		"link":             "abs_link",
		"relative link":    "rel_link",
		"linked directory": "dir_link/" + base,
		"link to a link":   "second_link/" + base,
	}
}

func TestUserStaysInTheWorkspace(t *testing.T) {
	t.Parallel()
	for _, role := range []roles.Role{roles.User, roles.Admin} { // the admin without admin_open
		e := setup(t, role, false)
		for name, path := range evasions(e, filepath.Join(e.outside, "secret.txt")) {
			for _, call := range [][]any{{"read_file", "path", path}, {"list_dir", "path", filepath.Dir(path)}, {"write_file", "path", path, "content", "evil"},
				{"write_file", "path", path, "content", "evil", "mode", "append"}, {"write_file", "path", filepath.Dir(path) + "/made.txt", "content", "evil"}} {
				if call[0] == "list_dir" && (name == "link" || name == "relative link") || call[0] == "write_file" && strings.HasPrefix(call[2].(string), "./") {
					continue // the directory is the workspace itself
				}
				got := e.call(call[0].(string), call[1:]...)
				if got["status"] == "ok" || strings.Contains(got.Text("content"), "outside") {
					t.Errorf("%s %s, %v: %v", role, name, call, got)
				}
			}
		}
		for _, path := range []string{"~/maishell-test", "..", e.outside} {
			if got := e.call("read_file", "path", path); got["status"] != "permission_denied" || !strings.Contains(got.Text("error"), "outside the workspace") {
				t.Errorf("%s: %v", path, got)
			}
		}
		for _, path := range []string{"/etc/passwd", "/", "//etc/passwd"} { // on Windows not absolute, and no path to be taken
			if got := e.call("read_file", "path", path); got["success"] != false {
				t.Errorf("%s: %v", path, got)
			}
		}
		e.untouched()
	}
}

func TestNobodyReachesOwnFiles(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		e := setup(t, roles.Admin, open)
		target := filepath.Join(e.own, "config.toml")
		ways := evasions(e, target)
		if err := os.Link(target, filepath.Join(e.ws, "hard")); err == nil {
			ways["hard link"] = "hard"
		}
		ways["new file"] = filepath.Join(e.own, "evil.lua")
		ways["new file by link"] = "dir_link/evil.lua"
		ways["new directory by link"] = "dir_link/lib/evil.lua"
		for name, path := range ways {
			for _, call := range [][]any{{"read_file", "path", path}, {"write_file", "path", path, "content", "evil"}, {"write_file", "path", path, "content", "evil", "mode", "append"},
				{"write_file", "path", path, "content", "evil", "mode", "create"}} {
				got := e.call(call[0].(string), call[1:]...)
				if got["status"] == "ok" {
					t.Errorf("open %v, %s, %v: %v", open, name, call, got)
				}
				if name == "hard link" && call[0] == "write_file" && len(call) == 5 && (got["status"] != "policy_denied" || got["rule"] != "own_files") {
					t.Errorf("%s: %v", name, got)
				}
			}
		}
		if got := e.call("list_dir", "path", e.own); got["status"] == "ok" {
			t.Errorf("%v", got)
		}
		e.untouched()
	}
}

func TestAdminOpen(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.Admin, true)
	target := filepath.Join(e.outside, "secret.txt")
	for name, path := range evasions(e, target) {
		if got := e.call("read_file", "path", path); got["content"] != "outside\n" {
			t.Errorf("%s: %v", name, got)
		}
		if got := e.call("write_file", "path", path, "content", "outside\n"); got["action"] != "overwritten" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if fi, err := os.Lstat(filepath.Join(e.ws, "abs_link")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced by a file: %v", err)
	}
	if got := e.call("write_file", "path", filepath.Join(e.outside, "deep", "er", "x"), "content", "y"); got["action"] != "created" {
		t.Errorf("%v", got)
	}
	if err := os.RemoveAll(filepath.Join(e.outside, "deep")); err != nil {
		t.Fatal(err)
	}
	e.untouched()
}

func TestLinksInsideTheWorkspaceWork(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.User, false)
	e.put(filepath.Join(e.ws, "real", "a"), "old")
	e.link("real", "dir")
	e.link("real/a", "file")
	e.link("nowhere", "dangling")
	if got := e.call("write_file", "path", "file", "content", "new"); got["action"] != "overwritten" || e.get(filepath.Join(e.ws, "real", "a")) != "new" {
		t.Errorf("%v", got)
	}
	if fi, err := os.Lstat(filepath.Join(e.ws, "file")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if got := e.call("write_file", "path", "dir/b", "content", "new"); got["action"] != "created" || e.get(filepath.Join(e.ws, "real", "b")) != "new" {
		t.Errorf("%v", got)
	}
	if got := e.call("write_file", "path", "dangling", "content", "new"); got["status"] != "invalid_argument" || !strings.Contains(got.Text("error"), "leads nowhere") {
		t.Errorf("%v", got)
	}
	if got := e.call("list_dir"); !strings.Contains(tooltest.Args(t, "x", got["entries"]), `"target":"real/a"`) {
		t.Errorf("%v", got)
	}
}

// A path is cleaned before anything looks at it: dots after a link take the link back, they do not lead to its parent.
func TestDotsAfterALink(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		e := setup(t, roles.Admin, open)
		e.link(e.own, "dir_link")
		if got := e.call("write_file", "path", "dir_link/../own/config.toml", "content", "mine"); got["action"] != "created" {
			t.Errorf("%v", got)
		}
		if got := e.get(filepath.Join(e.ws, "own", "config.toml")); got != "mine" {
			t.Errorf("%q", got)
		}
		e.untouched()
	}
}

func TestSwapBetweenCheckAndUse(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		for _, name := range []string{"read_file", "write_file"} {
			e := setup(t, roles.Admin, open)
			e.put(filepath.Join(e.ws, "a", "config.toml"), "harmless")
			// The guard judged ws/a/config.toml; by the time it lets go, ws/a leads to our own directory.
			e.door.Judge = func(guard.Action) *guard.Refusal {
				if err := os.Rename(filepath.Join(e.ws, "a"), filepath.Join(e.ws, "gone")); err != nil {
					t.Error(err)
				}
				e.link(e.own, "a")
				return nil
			}
			kv := []any{"path", filepath.Join(e.ws, "a", "config.toml")}
			if name == "write_file" {
				kv = append(kv, "content", "evil")
			}
			if got := e.call(name, kv...); got["status"] == "ok" || strings.Contains(got.Text("content"), "own") {
				t.Errorf("open %v: %v", open, got)
			}
			e.untouched()
		}
	}
}

func TestNewFileThatAppearsMeanwhile(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.User, false)
	e.door.Judge = func(guard.Action) *guard.Refusal { e.put(filepath.Join(e.ws, "a"), "theirs"); return nil }
	if got := e.call("write_file", "path", "a", "content", "mine"); got["status"] != "policy_denied" || e.get(filepath.Join(e.ws, "a")) != "theirs" {
		t.Errorf("it was allowed to create, not to overwrite: %v", got)
	}
}

func TestRolesAndSettings(t *testing.T) {
	t.Parallel()
	e := setup(t, roles.Guest, true)
	for _, name := range []string{"read_file", "write_file", "list_dir"} {
		if got := e.call(name, "path", "x", "content", "y"); got["status"] != "permission_denied" {
			t.Errorf("guest, %s: %v", name, got)
		}
	}
	e = setup(t, roles.User, true)
	if got := e.call("read_file", "path", filepath.Join(e.outside, "secret.txt")); got["status"] != "permission_denied" {
		t.Errorf("admin_open for a user: %v", got)
	}
	e = setup(t, roles.Admin, false)
	if got := e.call("read_file", "path", filepath.Join(e.outside, "secret.txt")); got["status"] != "permission_denied" {
		t.Errorf("admin without admin_open: %v", got)
	}
	e.settings.AdminOpen = true
	if got := e.call("read_file", "path", filepath.Join(e.outside, "secret.txt")); got["status"] != "ok" {
		t.Errorf("a changed setting is not seen: %v", got)
	}
	e.settings = files.Settings{Workspace: filepath.Join(e.ws, "missing")}
	if got := e.call("list_dir"); got["success"] != false || !strings.Contains(got.Text("error"), "workspace") {
		t.Errorf("%v", got)
	}
	e.settings = files.Settings{}
	if got := e.call("read_file", "path", "/etc/passwd"); got["success"] != false || !strings.Contains(got.Text("error"), "no workspace") {
		t.Errorf("%v", got)
	}
}

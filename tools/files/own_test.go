package files_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools/files"
	"github.com/maishell/maishell/tools/internal/tooltest"
)

type noSink struct{}

func (noSink) Append(_ context.Context, r audit.Record) (audit.Record, error) { return r, nil }

// With the real guard and the real floor, and a person who agrees to everything.
func TestOwnFilesWithTheRealFloor(t *testing.T) {
	t.Parallel()
	for _, role := range []roles.Role{roles.User, roles.Admin} {
		for _, open := range []bool{false, true} {
			e := setup(t, role, open)
			own := guard.NewOwnFiles([]string{filepath.Join(e.own, "config.toml"), filepath.Join(e.own, "missing.toml")}, []string{filepath.Join(e.own, "scripts")})
			if err := os.Mkdir(filepath.Join(e.own, "scripts"), 0o700); err != nil {
				t.Fatal(err)
			}
			e.put(filepath.Join(e.own, "scripts", "guard.lua"), "own\n")
			asRole := func(session.Origin) roles.Role { return role }
			door, err := guard.New(guard.Options{Deciders: []guard.Decider{own}, Sink: noSink{}, Role: asRole, Approver: yes{}})
			if err != nil {
				t.Fatal(err)
			}
			cat := tooltest.Catalog(t, "en")
			all, err := files.New(files.Options{Settings: func() files.Settings { return e.settings }, Own: own, Role: asRole, Texts: cat})
			if err != nil {
				t.Fatal(err)
			}
			e.View = tooltest.Registry(t, door, asRole, cat, all...).View(tooltest.Origin())
			e.link("../own/scripts", "lib")
			ways := evasions(e, filepath.Join(e.own, "config.toml"))
			ways["new script"], ways["script"], ways["script by link"] = filepath.Join(e.own, "scripts", "evil.lua"), filepath.Join(e.own, "scripts", "guard.lua"), "lib/guard.lua"
			ways["below the file"], ways["below a missing file"] = filepath.Join(e.own, "config.toml", "x"), filepath.Join(e.own, "missing.toml", "x", "y")
			ways["new script by link"] = "lib/sub/evil.lua"
			if os.Link(filepath.Join(e.own, "scripts", "guard.lua"), filepath.Join(e.ws, "hard")) == nil {
				ways["hard link"] = "hard"
			}
			for name, path := range ways {
				for _, mode := range []string{"overwrite", "create", "append"} {
					if got := e.call("write_file", "path", path, "content", "evil", "mode", mode); got["success"] == true {
						t.Errorf("%s, open %v, %s, %s: %v", role, open, name, mode, got)
					}
				}
				if got := e.call("read_file", "path", path); got["success"] == true {
					t.Errorf("%s, open %v, %s: %v", role, open, name, got)
				}
			}
			for _, file := range []string{"config.toml", "scripts/guard.lua"} {
				if got := e.get(filepath.Join(e.own, file)); got != "own\n" {
					t.Errorf("%s holds %q", file, got)
				}
			}
			if names, err := os.ReadDir(filepath.Join(e.own, "scripts")); err != nil || len(names) != 1 {
				t.Errorf("scripts holds %v", names)
			}
			if names, err := os.ReadDir(e.own); err != nil || len(names) != 2 {
				t.Errorf("the own directory holds %v", names)
			}
			if got := e.call("write_file", "path", "fine.txt", "content", "x"); got["success"] != true {
				t.Errorf("an ordinary file: %v", got)
			}
		}
	}
}

type yes struct{}

func (yes) Approve(context.Context, guard.Request) (bool, error) { return true, nil }

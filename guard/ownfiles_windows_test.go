package guard

import (
	"os"
	"path/filepath"
	"testing"
)

// Names that Windows takes for the same file: another case, other slashes, dots at the end, streams, hard links.
func TestOwnFilesByWindowsNames(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "own")
	if err != nil {
		t.Fatal(err)
	}
	made := []string{dir}
	t.Cleanup(func() { // one by one: os.RemoveAll does not work under every Wine
		for i := len(made) - 1; i >= 0; i-- {
			if err := os.Remove(made[i]); err != nil {
				t.Error(err)
			}
		}
	})
	at := func(name string) string { return dir + `\` + name }
	if err := os.Mkdir(at("state"), 0o700); err != nil {
		t.Fatal(err)
	}
	made = append(made, at("state"))
	for _, name := range []string{"Config.toml", `state\db`} {
		if err := os.WriteFile(at(name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		made = append(made, at(name))
	}
	if err := os.Link(at("Config.toml"), at("hard")); err != nil {
		t.Fatal(err)
	}
	made = append(made, at("hard"))
	o := NewOwnFiles([]string{at("Config.toml"), at("missing.toml")}, []string{at("state")})
	for _, path := range []string{
		at("Config.toml"), at("CONFIG.TOML"), filepath.ToSlash(at("config.toml")), at("config.toml."), at("config.toml::$DATA"),
		at("MISSING.toml"), at("missing.toml. "), at("missing.toml:s"), at("hard"), at(`STATE\new`), at(`state\..\state\db`), `\\?\` + at("Config.toml"),
	} {
		if !o.Contains(path) {
			t.Errorf("%s is not an own file", path)
		}
	}
	for _, path := range []string{at("other"), at("config.toml2"), at("state2"), dir} {
		if o.Contains(path) {
			t.Errorf("%s is an own file", path)
		}
	}
	if err := o.CheckWorkspace(dir); err == nil {
		t.Error("a directory with own files can be the workspace")
	}
}

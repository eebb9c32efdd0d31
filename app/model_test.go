package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

func TestModelKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sys := system{env: []string{"K= from-env \n", "OTHER=x"}}
	for _, c := range []struct {
		llm  config.LLM
		key  string
		fine bool
	}{
		{config.LLM{}, "", true},
		{config.LLM{APIKeyEnv: "K"}, "from-env", true},
		{config.LLM{APIKeyEnv: "NONE"}, "", true},
		{config.LLM{APIKeyEnv: "K", APIKeyFile: file("key", "from-file\n")}, "from-file", true},
		{config.LLM{APIKeyEnv: "K", APIKeyFile: file("empty", "\n")}, "", false},
		{config.LLM{APIKeyFile: file("two", "a\nb\n")}, "", false},
		{config.LLM{APIKeyFile: dir}, "", false},
		{config.LLM{APIKeyFile: filepath.Join(dir, "missing")}, "", false},
	} {
		key, err := modelKey(&config.Config{LLM: c.llm}, sys)
		if key != c.key || (err == nil) != c.fine {
			t.Errorf("%+v: %q, %v", c.llm, key, err)
		}
	}
	if secretsOf("short") != nil || len(secretsOf("long enough")) != 1 {
		t.Error("a key that the filter would refuse must not keep the program from starting")
	}
}

// TestNamedSession holds that nobody gets at a conversation of somebody else, or of more rights, by its name.
func TestNamedSession(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range []session.Origin{
		{Caller: roles.Caller{Platform: "local", UserID: "ann"}},
		{Caller: roles.Caller{Platform: "local", UserID: "ann"}, Ceiling: roles.Guest},
		{Caller: roles.Caller{Platform: "local", UserID: "bob"}},
		{Caller: roles.Caller{Platform: "qq", UserID: "ann"}},
		{Caller: roles.Caller{Platform: "qq", UserID: "ann", GroupID: "7"}},
	} {
		o.Channel = "terminal"
		id, err := namedSession(o, "work")
		if again, _ := namedSession(o, "work"); err != nil || seen[id] || again != id {
			t.Errorf("%+v: %q, %v", o, id, err)
		}
		seen[id] = true
		if _, err := namedSession(o, "a\nb"); err == nil {
			t.Error("a name with a control character")
		}
	}
}

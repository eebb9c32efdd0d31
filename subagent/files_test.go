package subagent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maishell/maishell/llm/llmtest"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools/files"
)

// TestFilesAreConfined holds that a sub-agent of a user stays within the user's directory, whatever paths its model names,
// and so does one of an admin who is only a user here.
func TestFilesAreConfined(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	workspace, outside := filepath.Join(base, "workspace"), filepath.Join(base, "outside.txt")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte("keep me"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(path string) llmtest.Call {
		args, _ := json.Marshal(map[string]string{"path": path, "content": "pwned"}) // texts are always JSON
		return llmtest.Call{Name: "write_file", Arguments: string(args)}
	}
	read, _ := json.Marshal(map[string]string{"path": outside})
	b := newBench(t, roles.User, llmtest.Step{Calls: []llmtest.Call{
		write(outside), write("../outside.txt"), write("../../../../../../../../../../" + outside), write("a/../../../../outside.txt"),
		{Name: "read_file", Arguments: string(read)}, write("mine.txt"),
	}}, llmtest.Step{Text: "done"})
	list, err := files.New(files.Options{
		Settings: func() files.Settings { return files.Settings{Workspace: workspace, AdminOpen: true} },
		Role:     func(o session.Origin) roles.Role { return roles.User },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list {
		if err := b.registry.Add(tool); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.ask(t.Context(), AskOne, `{"intent":"q"}`); !strings.Contains(got, `"answer":"done"`) {
		t.Fatal(got)
	}
	answers := b.server.Seen()[1].Messages[3:]
	for i, a := range answers {
		if inside := i == 5; strings.Contains(a.Content, `"success":true`) != inside || strings.Contains(a.Content, "keep me") {
			t.Errorf("call %d: %s", i+1, a.Content)
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "keep me" {
		t.Errorf("outside: %q %v", got, err)
	}
	var found []string
	if err := filepath.WalkDir(base, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != outside {
			found = append(found, path)
		}
		return err
	}); err != nil || len(found) != 1 || filepath.Base(found[0]) != "mine.txt" || !strings.HasPrefix(found[0], workspace) {
		t.Errorf("written: %q %v", found, err)
	}
}

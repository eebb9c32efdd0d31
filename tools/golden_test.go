package tools_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/files"
	"github.com/maishell/maishell/tools/internal/tooltest"
	"github.com/maishell/maishell/tools/meta"
	"github.com/maishell/maishell/tools/shell"
	"github.com/maishell/maishell/tools/system"
)

var update = flag.Bool("update", false, "write the golden files anew")

// builtIn are all tools that the program registers, in its order.
func builtIn(t testing.TB) []tools.Tool {
	t.Helper()
	all, err := meta.New(meta.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := system.New(system.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := files.New(files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := shell.New(shell.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return append(append(append(all, info), file...), run)
}

// What a role sees is a promise: a change here is a change for users.
func TestWhatEachRoleSees(t *testing.T) {
	t.Parallel()
	type seen struct {
		Name       string          `json:"name"`
		Visibility string          `json:"visibility"`
		Effects    any             `json:"effects"`
		Parameters json.RawMessage `json:"parameters"`
	}
	views := map[string]struct {
		role roles.Role
		opts []tools.ViewOption
	}{"none": {roles.None, nil}, "guest": {roles.Guest, nil}, "user": {roles.User, nil}, "admin": {roles.Admin, nil}, "admin_subagent": {roles.Admin, []tools.ViewOption{tools.Narrow()}}}
	for name, tt := range views {
		reg := tooltest.Registry(t, &tooltest.Door{}, tooltest.NewRank(tt.role).Of, nil, builtIn(t)...)
		list := []seen{}
		for _, tool := range reg.View(tooltest.Origin(), tt.opts...).List() {
			list = append(list, seen{tool.Name, tool.Visibility.String(), tool.Effects, tool.Parameters()})
		}
		got, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		file := filepath.Join("testdata", "sees_"+name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
			t.Errorf("%s sees other tools than %s says (-update writes it anew):\n%s", name, file, got)
		}
	}
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	for _, tool := range builtIn(t) {
		en, zh := tool.Description("en"), tool.Description("zh")
		if en == zh || tool.Description("fr") != en {
			t.Errorf("%s: descriptions are mixed up", tool.Name)
		}
		for _, lang := range []string{"en", "zh"} {
			if s := []rune(tool.Summary(lang)); len(s) < 8 || len(s) > 120 {
				t.Errorf("%s: summary %q", tool.Name, string(s))
			}
		}
	}
}

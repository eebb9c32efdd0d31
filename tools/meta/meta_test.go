package meta_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/internal/tooltest"
	"github.com/maishell/maishell/tools/meta"
)

func setup(t *testing.T, lang string) (*tools.Registry, *tooltest.Rank) {
	t.Helper()
	cat := tooltest.Catalog(t, lang)
	all, err := meta.New(meta.Options{Texts: cat})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []tools.Tool{
		{Name: "hello", Role: roles.Guest, Effects: []guard.Effect{guard.Read}},
		{Name: "files", Role: roles.User, Effects: []guard.Effect{guard.Read}},
		{Name: "danger", Role: roles.Admin},
		{Name: "always", Role: roles.Guest, Visibility: tools.Essential, Effects: []guard.Effect{guard.Read}},
	} {
		spec.Description = func(lang string) string { return spec.Name + " in " + lang + "\nmore" }
		tool, err := tools.Define(spec, nil, func(context.Context, struct{}, guard.Action) (tools.Result, error) { return tools.Result{}, nil })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool)
	}
	rank := tooltest.NewRank(roles.Guest)
	return tooltest.Registry(t, &tooltest.Door{}, rank.Of, cat, all...), rank
}

func TestListTools(t *testing.T) {
	t.Parallel()
	reg, rank := setup(t, "zh")
	v := reg.View(tooltest.Origin())
	for _, tt := range []struct {
		role roles.Role
		view *tools.View
		want string
	}{
		{roles.Guest, v, `[{"name":"hello","summary":"hello in zh"}]`},
		{roles.User, v, `[{"name":"hello","summary":"hello in zh"},{"name":"files","summary":"files in zh"}]`},
		{roles.Admin, v, `[{"name":"hello","summary":"hello in zh"},{"name":"files","summary":"files in zh"},{"name":"danger","summary":"danger in zh"}]`},
		{roles.Admin, reg.View(tooltest.Origin(), tools.Narrow()), `[{"name":"hello","summary":"hello in zh"},{"name":"files","summary":"files in zh"}]`},
	} {
		rank.Set(tt.role)
		got := tooltest.Call(t, tt.view, "list_tools", "{}")
		b, err := json.Marshal(got["tools"])
		if err != nil || string(b) != tt.want || got["success"] != true {
			t.Errorf("%s: %v, want %s", tt.role, got, tt.want)
		}
	}
}

func TestGetToolSchema(t *testing.T) {
	t.Parallel()
	reg, rank := setup(t, "en")
	rank.Set(roles.User)
	for _, tt := range []struct{ name, status, err string }{
		{"files", "ok", ""},
		{"always", "invalid_argument", "always is not discoverable"},
		{"list_tools", "invalid_argument", "not discoverable"},
		{"danger", "permission_denied", "permission denied: danger"},
		{"nope", "invalid_argument", "tool not found: nope"},
		{"", "invalid_argument", "tool not found"},
	} {
		got := tooltest.Call(t, reg.View(tooltest.Origin()), "get_tool_schema", tooltest.Args(t, "name", tt.name))
		if got["status"] != tt.status || !strings.Contains(got.Text("error"), tt.err) {
			t.Errorf("%q: %v, want %s %q", tt.name, got, tt.status, tt.err)
		}
		if tt.status != "ok" && (got["parameters"] != nil || got["description"] != nil) {
			t.Errorf("%q: refused, and yet described: %v", tt.name, got)
		}
	}
	got := tooltest.Call(t, reg.View(tooltest.Origin()), "get_tool_schema", `{"name":"files"}`)
	if got.Text("description") != "files in en\nmore" || got["parameters"].(map[string]any)["type"] != "object" {
		t.Errorf("%v", got)
	}
	if got := tooltest.Call(t, reg.View(tooltest.Origin()), "get_tool_schema", `{"tool":"files"}`); !strings.Contains(got.Text("error"), "use name") {
		t.Errorf("%v", got)
	}
}

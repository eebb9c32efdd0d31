// Package tooltest helps the tests of tools: a guard that lets everything pass and remembers it, and a short way to
// call a tool. It is used by tests only.
package tooltest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

// Door is a guard without policy.
type Door struct {
	// Judge may refuse an action. nil: allow.
	Judge func(a guard.Action) *guard.Refusal

	mu       sync.Mutex
	actions  []guard.Action
	refusals []*guard.Refusal
}

// Do performs the action unless Judge refuses it.
func (d *Door) Act(ctx context.Context, a guard.Action, run func(context.Context, guard.Action) (guard.Outcome, error)) (guard.Outcome, error) {
	if d.Judge != nil {
		if r := d.Judge(a); r != nil {
			d.Refused(ctx, Origin(), a.Tool, a.Args, r)
			return guard.Outcome{}, r
		}
	}
	d.mu.Lock()
	d.actions = append(d.actions, a)
	d.mu.Unlock()
	return run(ctx, a)
}

// Refused remembers a refusal.
func (d *Door) Refused(_ context.Context, _ session.Origin, _ string, _ []byte, r *guard.Refusal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refusals = append(d.refusals, r)
}

// Actions are those that were performed.
func (d *Door) Actions() []guard.Action {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.actions)
}

// Refusals are those that were recorded.
func (d *Door) Refusals() []*guard.Refusal {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.refusals)
}

// Origin is that of the tests' caller.
func Origin() session.Origin {
	return session.Origin{Caller: roles.Caller{Platform: "local", UserID: "tester"}, Session: "s1", Channel: "exec"}
}

// Catalog is the catalog of a language.
func Catalog(t testing.TB, lang string) func() *texts.Catalog {
	t.Helper()
	c, err := texts.New(lang)
	if err != nil {
		t.Fatal(err)
	}
	return func() *texts.Catalog { return c }
}

// Rank is a role that can change.
type Rank struct {
	mu   sync.Mutex
	role roles.Role
}

// NewRank makes a role.
func NewRank(r roles.Role) *Rank { return &Rank{role: r} }

// Set changes it.
func (r *Rank) Set(role roles.Role) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.role = role
}

// Of answers for every origin.
func (r *Rank) Of(session.Origin) roles.Role {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.role
}

// Registry holds the tools behind the door.
func Registry(t testing.TB, door tools.Door, role func(session.Origin) roles.Role, cat func() *texts.Catalog, all ...tools.Tool) *tools.Registry {
	t.Helper()
	r := tools.NewRegistry(tools.Options{Guard: door, Role: role, Texts: cat})
	for _, tool := range all {
		if err := r.Add(tool); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Answer is a result as its JSON says it.
type Answer map[string]any

// Call runs a tool with arguments given as JSON text.
func Call(t testing.TB, v *tools.View, name, args string) Answer {
	t.Helper()
	res := v.Invoke(t.Context(), tools.Call{Name: name, Args: json.RawMessage(args)})
	var out Answer
	if err := json.Unmarshal(res.JSON(), &out); err != nil {
		t.Fatalf("%s %s: result is not JSON: %v\n%s", name, args, err, res.JSON())
	}
	return out
}

// Args writes arguments as JSON text.
func Args(t testing.TB, kv ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Text is a key as text, or "".
func (a Answer) Text(key string) string {
	s, _ := a[key].(string)
	return s
}

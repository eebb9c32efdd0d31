package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/internal/tooltest"
)

// The real guard is a door.
var _ tools.Door = (*guard.Guard)(nil)

// memory keeps audit records; it may fail.
type memory struct {
	mu      sync.Mutex
	records []audit.Record
	fail    audit.Kind
}

func (m *memory) Append(_ context.Context, r audit.Record) (audit.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Kind == m.fail {
		return r, errors.New("disk full")
	}
	m.records = append(m.records, r)
	return r, nil
}

func (m *memory) take() []audit.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.records
	m.records = nil
	return out
}

type verdict struct{ d guard.Decision }

func (v *verdict) Decide(context.Context, guard.Action) (guard.Decision, error) { return v.d, nil }

func TestWithTheRealGuard(t *testing.T) {
	t.Parallel()
	sink, decide, rank := &memory{}, &verdict{guard.Decision{Verdict: guard.Allow}}, tooltest.NewRank(roles.User)
	door, err := guard.New(guard.Options{Deciders: []guard.Decider{decide}, Sink: sink, Role: rank.Of})
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	tool := define(t, tools.Tool{Name: "x", Effects: []guard.Effect{guard.Write}}, nil, func(_ context.Context, a echoArgs, _ guard.Action) (tools.Result, error) {
		ran++
		if a.Text == "fail" {
			return tools.Result{}, errors.New("broken")
		}
		return tools.Result{Body: map[string]any{"text": a.Text}}, nil
	})
	v := tooltest.Registry(t, door, rank.Of, tooltest.Catalog(t, "en"), tool).View(tooltest.Origin())
	steps := []struct {
		name, args, call, status string
		before                   func()
		kinds                    []audit.Kind
		ran                      int
	}{
		{"fine", `{"text":"a"}`, "x", "ok", nil, []audit.Kind{audit.Intent, audit.Outcome}, 1},
		{"fails", `{"text":"fail"}`, "x", "internal", nil, []audit.Kind{audit.Intent, audit.Outcome}, 1},
		{"bad arguments", `{"txt":1}`, "x", "invalid_argument", nil, []audit.Kind{audit.Refusal}, 0},
		{"not JSON", `{"text":`, "x", "invalid_argument", nil, []audit.Kind{audit.Refusal}, 0},
		{"unknown", `{}`, "y", "invalid_argument", nil, []audit.Kind{audit.Refusal}, 0},
		{"denied", `{"text":"a"}`, "x", "policy_denied", func() {
			decide.d = guard.Decision{Rule: "r", Reason: "tools.denied", Args: []any{"z", "admin", "user"}}
		}, []audit.Kind{audit.Refusal}, 0},
		{"nobody to ask", `{"text":"a"}`, "x", "approval_unavailable", func() { decide.d.Verdict = guard.Confirm }, []audit.Kind{audit.Refusal}, 0},
		{"no intent record", `{"text":"a"}`, "x", "internal", func() { decide.d.Verdict = guard.Allow; sink.fail = audit.Intent }, nil, 0},
		{"no outcome record", `{"text":"a"}`, "x", "ok", func() { sink.fail = audit.Outcome }, []audit.Kind{audit.Intent}, 1},
		{"demoted", `{"text":"a"}`, "x", "permission_denied", func() { sink.fail = ""; rank.Set(roles.Guest) }, []audit.Kind{audit.Refusal}, 0},
	}
	for _, tt := range steps {
		if tt.before != nil {
			tt.before()
		}
		ran = 0
		got := tooltest.Call(t, v, tt.call, tt.args)
		var kinds []audit.Kind
		for _, r := range sink.take() {
			kinds = append(kinds, r.Kind)
			if r.Kind != audit.Intent && r.Status != tt.status || r.Session != "s1" || r.Caller != "local:tester" || r.Tool != tt.call {
				t.Errorf("%s: record %+v", tt.name, r)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%s: the record is not JSON: %v", tt.name, err)
			}
		}
		if got["status"] != tt.status || !slices.Equal(kinds, tt.kinds) || ran != tt.ran {
			t.Errorf("%s: %v, records %v, ran %d; want %s, %v, %d", tt.name, got, kinds, ran, tt.status, tt.kinds, tt.ran)
		}
		if tt.name == "no outcome record" && got.Text("error") == "" {
			t.Errorf("%s: nobody is told: %v", tt.name, got)
		}
	}
}

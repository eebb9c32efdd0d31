package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/internal/tooltest"
)

type echoArgs struct {
	Text string `json:"text"`
}

// define makes a tool whose handlers are given; nil: it echoes.
func define(t testing.TB, spec tools.Tool, plan func(context.Context, echoArgs) (guard.Action, error), run func(context.Context, echoArgs, guard.Action) (tools.Result, error)) tools.Tool {
	t.Helper()
	if spec.Role == roles.None {
		spec.Role = roles.User
	}
	spec.Description = func(string) string { return spec.Name + " does something" }
	if run == nil {
		run = func(_ context.Context, a echoArgs, _ guard.Action) (tools.Result, error) {
			return tools.Result{Body: map[string]any{"text": a.Text}}, nil
		}
	}
	tool, err := tools.Define(spec, plan, run)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	type want struct {
		status   guard.Status
		err      string
		recorded bool // as a refusal
	}
	echo := tools.Tool{Name: "echo", Effects: []guard.Effect{guard.Read}}
	boom := errors.New("disk on fire")
	tests := []struct {
		name string
		tool tools.Tool
		plan func(context.Context, echoArgs) (guard.Action, error)
		run  func(context.Context, echoArgs, guard.Action) (tools.Result, error)
		role roles.Role
		call string
		args string
		deny *guard.Refusal
		want want
	}{
		{name: "fine", role: roles.User, want: want{status: guard.StatusOK}},
		{name: "admin too", role: roles.Admin, want: want{status: guard.StatusOK}},
		{name: "unknown tool", role: roles.Admin, call: "nope", want: want{guard.StatusInvalidArgument, "tool not found: nope", true}},
		{name: "role too low", role: roles.Guest, want: want{guard.StatusPermissionDenied, "permission denied: echo is for role user, you are guest", true}},
		{name: "no role", role: roles.None, want: want{guard.StatusPermissionDenied, "permission denied: echo", true}},
		{name: "unknown role", role: roles.Role(99), want: want{guard.StatusPermissionDenied, "permission denied: echo", true}},
		{name: "bad arguments", role: roles.User, args: `{"txt":"x"}`, want: want{guard.StatusInvalidArgument, "unknown parameter txt: use text", true}},
		{name: "role before arguments", role: roles.Guest, args: `{`, want: want{guard.StatusPermissionDenied, "permission denied", true}},
		{name: "plan fails", role: roles.User, plan: func(context.Context, echoArgs) (guard.Action, error) { return guard.Action{}, boom },
			want: want{guard.StatusInternal, "echo failed: disk on fire", true}},
		{name: "plan refuses", role: roles.User, plan: func(context.Context, echoArgs) (guard.Action, error) {
			return guard.Action{}, fmt.Errorf("wrapped: %w", tools.Invalid("tools.not_found", "zz"))
		}, want: want{guard.StatusInvalidArgument, "tool not found: zz", true}},
		{name: "plan panics", role: roles.User, plan: func(context.Context, echoArgs) (guard.Action, error) { panic("oh") },
			want: want{guard.StatusInternal, "panic in plan: oh", true}},
		{name: "guard refuses", role: roles.User, deny: &guard.Refusal{Status: guard.StatusPolicyDenied, Rule: "never", Reason: "tools.denied", Args: []any{"that", "admin", "user"}},
			want: want{guard.StatusPolicyDenied, "permission denied: that", true}},
		{name: "guard refuses without words", role: roles.User, deny: &guard.Refusal{Status: guard.StatusApprovalDenied},
			want: want{guard.StatusApprovalDenied, "echo was refused (approval_denied)", true}},
		{name: "run fails", role: roles.User, run: func(context.Context, echoArgs, guard.Action) (tools.Result, error) { return tools.Result{}, boom },
			want: want{guard.StatusInternal, "echo failed: disk on fire", false}},
		{name: "run panics", role: roles.User, run: func(context.Context, echoArgs, guard.Action) (tools.Result, error) { panic("oh") },
			want: want{guard.StatusInternal, "panic in run: oh", false}},
		{name: "run is cancelled", role: roles.User, run: func(context.Context, echoArgs, guard.Action) (tools.Result, error) {
			return tools.Result{}, context.Canceled
		}, want: want{guard.StatusCancelled, "cancelled", false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			door := &tooltest.Door{Judge: func(guard.Action) *guard.Refusal { return tt.deny }}
			ran := false
			run := tt.run
			if run == nil {
				run = func(ctx context.Context, a echoArgs, act guard.Action) (tools.Result, error) {
					ran = true
					if o, ok := session.FromContext(ctx); !ok || o != tooltest.Origin() {
						t.Errorf("origin in run is %v", o)
					}
					return tools.Result{Body: map[string]any{"text": a.Text}}, nil
				}
			}
			reg := tooltest.Registry(t, door, tooltest.NewRank(tt.role).Of, tooltest.Catalog(t, "en"), define(t, echo, tt.plan, run))
			name, args := tt.call, tt.args
			if name == "" {
				name = "echo"
			}
			if args == "" {
				args = `{"text":"hi"}`
			}
			got := tooltest.Call(t, reg.View(tooltest.Origin()), name, args)
			if got["status"] != string(tt.want.status) || !strings.Contains(got.Text("error"), tt.want.err) || got["success"] != (tt.want.status == guard.StatusOK) {
				t.Errorf("result %v, want %+v", got, tt.want)
			}
			if tt.deny != nil && got.Text("rule") != tt.deny.Rule {
				t.Errorf("rule %q, want %q", got["rule"], tt.deny.Rule)
			}
			if n := len(door.Refusals()); (n == 1) != tt.want.recorded {
				t.Errorf("%d refusals recorded, want recorded: %v", n, tt.want.recorded)
			}
			if ok := tt.want.status == guard.StatusOK; ok != ran && tt.run == nil {
				t.Errorf("ran: %v, want %v", ran, ok)
			}
			if tt.want.recorded && len(door.Actions()) != 0 {
				t.Error("a refused call was performed")
			}
		})
	}
}

func TestActionIsComplete(t *testing.T) {
	t.Parallel()
	door := &tooltest.Door{}
	undeclared := define(t, tools.Tool{Name: "undeclared"}, nil, nil)
	planned := define(t, tools.Tool{Name: "planned", Effects: []guard.Effect{guard.Write}}, func(_ context.Context, a echoArgs) (guard.Action, error) {
		return guard.Action{Tool: "lie", Args: json.RawMessage(`"lie"`), Writes: []string{"/x"}, Effects: []guard.Effect{guard.Overwrite}}, nil
	}, nil)
	reg := tooltest.Registry(t, door, tooltest.NewRank(roles.User).Of, nil, undeclared, planned)
	v := reg.View(tooltest.Origin())
	tooltest.Call(t, v, "undeclared", ` { "text" : "a" } `)
	tooltest.Call(t, v, "planned", `{"text":"b"}`)
	got := door.Actions()
	if len(got) != 2 || got[0].Tool != "undeclared" || !slices.Equal(got[0].Effects, []guard.Effect{guard.Execute}) || string(got[0].Args) != `{"text":"a"}` {
		t.Fatalf("actions %+v", got)
	}
	if got[1].Tool != "planned" || !slices.Equal(got[1].Effects, []guard.Effect{guard.Overwrite}) || string(got[1].Args) != `{"text":"b"}` || got[1].Writes[0] != "/x" {
		t.Fatalf("action %+v", got[1])
	}
}

func TestRunGetsTheCheckedAction(t *testing.T) {
	t.Parallel()
	door := &tooltest.Door{}
	tool := define(t, tools.Tool{Name: "x"}, func(_ context.Context, a echoArgs) (guard.Action, error) {
		return guard.Action{Command: a.Text + " planned"}, nil
	},
		func(_ context.Context, _ echoArgs, a guard.Action) (tools.Result, error) {
			return tools.Result{Body: map[string]any{"command": a.Command}}, nil
		})
	got := tooltest.Call(t, tooltest.Registry(t, door, tooltest.NewRank(roles.User).Of, nil, tool).View(tooltest.Origin()), "x", `{"text":"asked"}`)
	if got["command"] != "asked planned" || door.Actions()[0].Command != "asked planned" {
		t.Errorf("result %v", got)
	}
}

func TestDemotion(t *testing.T) {
	t.Parallel()
	rank := tooltest.NewRank(roles.Admin)
	door := &tooltest.Door{}
	reg := tooltest.Registry(t, door, rank.Of, tooltest.Catalog(t, "en"), define(t, tools.Tool{Name: "x", Role: roles.Admin}, nil, nil))
	v := reg.View(tooltest.Origin())
	if got := tooltest.Call(t, v, "x", `{"text":"1"}`); got["status"] != "ok" || len(v.List()) != 1 {
		t.Fatalf("as admin: %v", got)
	}
	rank.Set(roles.User)
	if got := tooltest.Call(t, v, "x", `{"text":"2"}`); got["status"] != "permission_denied" || len(v.List()) != 0 {
		t.Errorf("after demotion: %v", got)
	}
	// Demoted while the guard waits for a person: nothing runs.
	rank.Set(roles.Admin)
	door.Judge = func(guard.Action) *guard.Refusal { rank.Set(roles.Guest); return nil }
	if got := tooltest.Call(t, v, "x", `{"text":"3"}`); got["status"] != "permission_denied" || got["text"] != nil {
		t.Errorf("demoted during the wait: %v", got)
	}
}

func TestOriginOnlyFromTheView(t *testing.T) {
	t.Parallel()
	door := &tooltest.Door{}
	role := func(o session.Origin) roles.Role {
		if o.Caller.UserID == "root" {
			return roles.Admin
		}
		return roles.Guest
	}
	reg := tooltest.Registry(t, door, role, nil, define(t, tools.Tool{Name: "x", Role: roles.Admin}, nil, nil))
	root := tooltest.Origin()
	root.Caller.UserID = "root"
	args := json.RawMessage(`{"text":"x"}`)
	// A context that claims an origin does not help, nor does a call that claims one.
	ctx := session.WithOrigin(t.Context(), root)
	for name, res := range map[string]tools.Result{
		"context":   reg.View(tooltest.Origin()).Invoke(ctx, tools.Call{Name: "x", Args: args}),
		"call":      reg.View(tooltest.Origin()).Invoke(ctx, tools.Call{Origin: root, Name: "x", Args: args}),
		"no origin": reg.View(session.Origin{Caller: root.Caller}).Invoke(ctx, tools.Call{Name: "x", Args: args}),
	} {
		if res.Status != guard.StatusPermissionDenied {
			t.Errorf("%s: %s", name, res.JSON())
		}
	}
	if res := reg.View(root).Invoke(t.Context(), tools.Call{Origin: root, Name: "x", Args: args}); !res.Success() {
		t.Errorf("own origin: %s", res.JSON())
	}
	root.Ceiling = roles.User
	if res := reg.View(root).Invoke(t.Context(), tools.Call{Name: "x", Args: args}); res.Status != guard.StatusPermissionDenied {
		t.Errorf("ceiling: %s", res.JSON())
	}
}

func TestNarrow(t *testing.T) {
	t.Parallel()
	door := &tooltest.Door{}
	lying := define(t, tools.Tool{Name: "lying", Effects: []guard.Effect{guard.Read}}, func(context.Context, echoArgs) (guard.Action, error) {
		return guard.Action{Effects: []guard.Effect{guard.Read, guard.Privilege}}, nil
	}, nil)
	all := []tools.Tool{lying, define(t, tools.Tool{Name: "nothing_stated"}, nil, nil)}
	for _, e := range []guard.Effect{guard.Read, guard.Write, guard.Network, guard.Execute, guard.Destroy, guard.Privilege} {
		all = append(all, define(t, tools.Tool{Name: string(e), Effects: []guard.Effect{guard.Read, e}}, nil, nil))
	}
	reg := tooltest.Registry(t, door, tooltest.NewRank(roles.Admin).Of, tooltest.Catalog(t, "en"), all...)
	v := reg.View(tooltest.Origin(), tools.Narrow())
	var names []string
	for _, tool := range v.List() {
		names = append(names, tool.Name)
	}
	if want := []string{"lying", "read", "write", "network"}; !slices.Equal(names, want) {
		t.Errorf("narrow list %v, want %v", names, want)
	}
	for name, status := range map[string]string{"read": "ok", "execute": "permission_denied", "destroy": "permission_denied", "privilege": "permission_denied",
		"nothing_stated": "permission_denied", "lying": "permission_denied"} {
		got := tooltest.Call(t, v, name, `{"text":"x"}`)
		if got["status"] != status {
			t.Errorf("%s: %v, want %s", name, got, status)
		}
		if status != "ok" && got.Text("error") != "tool not in allowed set: "+name {
			t.Errorf("%s: error %q", name, got["error"])
		}
	}
	if n := len(door.Actions()); n != 1 {
		t.Errorf("%d actions were performed, want 1", n)
	}
}

func TestRegistryOrder(t *testing.T) {
	t.Parallel()
	door := &tooltest.Door{}
	mk := func(name, text string) tools.Tool {
		return define(t, tools.Tool{Name: name}, nil, func(context.Context, echoArgs, guard.Action) (tools.Result, error) {
			return tools.Result{Body: map[string]any{"text": text}}, nil
		})
	}
	reg := tooltest.Registry(t, door, tooltest.NewRank(roles.User).Of, nil, mk("c", "1"), mk("a", "2"), mk("b", "3"), mk("a", "4"))
	v := reg.View(tooltest.Origin())
	list := func() string {
		var names []string
		for _, tool := range v.List() {
			names = append(names, tool.Name)
		}
		return strings.Join(names, " ")
	}
	if got := list(); got != "c a b" {
		t.Errorf("order %q, want c a b", got)
	}
	if got := tooltest.Call(t, v, "a", `{"text":""}`); got["text"] != "4" {
		t.Errorf("overwritten tool gave %v", got)
	}
	reg.Remove("a")
	reg.Remove("nobody")
	if got := list(); got != "c b" {
		t.Errorf("after Remove %q", got)
	}
	if got := tooltest.Call(t, v, "a", `{"text":""}`); got["status"] != "invalid_argument" {
		t.Errorf("removed tool gave %v", got)
	}
	if err := reg.Add(tools.Tool{Name: "raw", Role: roles.Guest}); err == nil {
		t.Error("a tool that was not made by Define was accepted")
	}
	bad := mk("ok", "")
	bad.Name = "Not OK"
	if err := reg.Add(bad); err == nil {
		t.Error("a bad name was accepted")
	}
}

func TestRegistryConcurrently(t *testing.T) {
	t.Parallel()
	tool := define(t, tools.Tool{Name: "x"}, nil, nil)
	reg := tooltest.Registry(t, &tooltest.Door{}, tooltest.NewRank(roles.User).Of, nil, tool)
	v := reg.View(tooltest.Origin())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				v.List()
				if res := v.Invoke(t.Context(), tools.Call{Name: "x", Args: json.RawMessage(`{"text":"a"}`)}); res.Status == guard.StatusInternal {
					t.Error(res.Error)
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				reg.Remove("x")
				if err := reg.Add(tool); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestZeroOptionsRunNothing(t *testing.T) {
	t.Parallel()
	reg := tools.NewRegistry(tools.Options{})
	if err := reg.Add(define(t, tools.Tool{Name: "x", Role: roles.Guest}, nil, nil)); err != nil {
		t.Fatal(err)
	}
	call := tools.Call{Name: "x", Args: json.RawMessage(`{"text":"a"}`)}
	if res := reg.View(tooltest.Origin()).Invoke(t.Context(), call); res.Status != guard.StatusPermissionDenied {
		t.Errorf("%s", res.JSON())
	}
	reg = tooltest.Registry(t, nil, tooltest.NewRank(roles.Admin).Of, nil, define(t, tools.Tool{Name: "x"}, nil, nil))
	if res := reg.View(tooltest.Origin()).Invoke(t.Context(), call); res.Status != guard.StatusInternal {
		t.Errorf("%s", res.JSON())
	}
}

func TestCancelledCallRunsNothing(t *testing.T) {
	t.Parallel()
	door := &tooltest.Door{}
	reg := tooltest.Registry(t, door, tooltest.NewRank(roles.User).Of, nil, define(t, tools.Tool{Name: "x"}, nil, nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res := reg.View(tooltest.Origin()).Invoke(ctx, tools.Call{Name: "x", Args: json.RawMessage(`{"text":"a"}`)})
	if res.Status != guard.StatusCancelled || len(door.Actions()) != 0 {
		t.Errorf("%s", res.JSON())
	}
}

func BenchmarkInvoke(b *testing.B) {
	reg := tooltest.Registry(b, benchDoor{}, tooltest.NewRank(roles.User).Of, tooltest.Catalog(b, "en"), define(b, tools.Tool{Name: "x"}, nil, nil))
	v := reg.View(tooltest.Origin())
	call := tools.Call{Name: "x", Args: json.RawMessage(`{"text":"a short text"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if res := v.Invoke(b.Context(), call); !res.Success() {
			b.Fatal(res.Error)
		}
	}
}

type benchDoor struct{}

func (benchDoor) Act(ctx context.Context, a guard.Action, run func(context.Context, guard.Action) (guard.Outcome, error)) (guard.Outcome, error) {
	return run(ctx, a)
}
func (benchDoor) Refused(context.Context, session.Origin, string, []byte, *guard.Refusal) {}

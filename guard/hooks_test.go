package guard

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

// hooks are Hooks made of functions.
type hooks struct {
	decide func(context.Context, Action) (Decision, error)
	after  func(context.Context, Action, Shown) (Shown, error)
}

func (h hooks) Decide(ctx context.Context, a Action) (Decision, error) {
	if h.decide == nil {
		return Decision{Verdict: Allow}, nil
	}
	return h.decide(ctx, a)
}

func (h hooks) Sees(Action) bool { return h.after != nil }

func (h hooks) After(ctx context.Context, a Action, s Shown) (Shown, error) {
	return h.after(ctx, a, s)
}

func with(h Hooks) func() Hooks { return func() Hooks { return h } }

func command(text string) Action {
	return Action{Tool: "run_command", Command: text, Cwd: "/", Timeout: time.Minute}
}

func to(rule, text string) Decision {
	return Decision{Verdict: Allow, Rule: rule, Rewrite: &Rewrite{Rule: rule, Command: &text}}
}

// rewriting is a hook that turns texts into others, under one name for each.
func rewriting(steps map[string]string) hooks {
	return hooks{decide: func(_ context.Context, a Action) (Decision, error) {
		if next, ok := steps[a.Command]; ok {
			return to("by "+a.Command, next), nil
		}
		return Decision{Verdict: Allow}, nil
	}}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps map[string]string
		want  string // the text that runs, or the reason of the refusal
	}{
		"none":    {nil, "a"},
		"once":    {map[string]string{"a": "b"}, "b"},
		"four":    {map[string]string{"a": "b", "b": "c", "c": "d", "d": "e"}, "e"},
		"five":    {map[string]string{"a": "b", "b": "c", "c": "d", "d": "e", "e": "f"}, "guard.rewrite_often"},
		"back":    {map[string]string{"a": "b", "b": "a"}, "guard.rewrite_back"},
		"to self": {map[string]string{"a": "a"}, "guard.rewrite_nothing"},
		"empty":   {map[string]string{"a": ""}, "guard.rewrite_invalid"},
		"denied":  {map[string]string{"a": "bad"}, "no"},
	} {
		g, s := door(t, Options{Hooks: with(rewriting(c.steps)), Deciders: []Decider{verdict(func(_ context.Context, a Action) (Decision, error) {
			if a.Command == "bad" {
				return Decision{Verdict: Deny, Rule: "floor", Reason: "no"}, nil
			}
			return Decision{Verdict: Allow}, nil
		})}})
		got := ""
		_, err := g.Act(origin(t.Context()), command("a"), func(ctx context.Context, a Action) (Outcome, error) {
			if n := len(RewritesFrom(ctx)); n != len(c.steps) {
				t.Errorf("%s: %d rewrites", name, n)
			}
			got = a.Command
			return Outcome{}, nil
		})
		var r *Refusal
		if errors.As(err, &r) {
			got = r.Reason
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if len(c.steps) > 0 && name != "to self" && name != "empty" && !strings.Contains(s.records[0].Detail, "rewritten by by a from: a (in /, timeout 1m0s)") {
			t.Errorf("%s: the record does not have the first text: %q", name, s.records[0].Detail)
		}
	}
}

func TestRewriteLimits(t *testing.T) {
	t.Parallel()
	long, relative, short := time.Hour, "tmp", time.Second
	for want, r := range map[string]Rewrite{
		"guard.rewrite_longer":  {Timeout: &long},
		"guard.rewrite_invalid": {Cwd: &relative},
		"":                      {Timeout: &short},
	} {
		r.Rule = "x"
		first := true
		g, _ := door(t, Options{Hooks: with(hooks{decide: func(context.Context, Action) (Decision, error) {
			if first {
				first = false
				return Decision{Verdict: Allow, Rewrite: &r}, nil
			}
			return Decision{Verdict: Allow}, nil
		}})})
		_, err := g.Act(origin(t.Context()), command("a"), func(context.Context, Action) (Outcome, error) { return Outcome{}, nil })
		if reason := reasonOf(err); reason != want {
			t.Errorf("%q, want %q", reason, want)
		}
	}
	// One hook rewrites once; an effect that cannot follow, and a tool without a command, not at all.
	again := hooks{decide: func(_ context.Context, a Action) (Decision, error) { return to("x", "n "+a.Command), nil }}
	g, _ := door(t, Options{Hooks: with(again)})
	run := false
	_, err := g.Act(origin(t.Context()), command("a"), func(context.Context, Action) (Outcome, error) { run = true; return Outcome{}, nil })
	if reasonOf(err) != "guard.rewrite_again" || run {
		t.Error(err)
	}
	for _, a := range []Action{command("a"), {Tool: "write_file"}} {
		if _, err := g.Do(origin(t.Context()), a, ran(&run)); reasonOf(err) != "guard.rewrite_impossible" || run {
			t.Error(err)
		}
	}
	// What a person approved is what runs.
	asked := false
	g, _ = door(t, Options{
		Deciders: []Decider{always(Decision{Verdict: Confirm})},
		Approver: approver(func(context.Context, Request) (bool, error) { asked = true; return true, nil }),
		Hooks: with(hooks{decide: func(context.Context, Action) (Decision, error) {
			if asked {
				return to("x", "other"), nil
			}
			return Decision{Verdict: Allow}, nil
		}}),
	})
	_, err = g.Act(origin(t.Context()), command("a"), func(context.Context, Action) (Outcome, error) { run = true; return Outcome{}, nil })
	if reasonOf(err) != "guard.rewrite_late" || run || !asked {
		t.Error(err)
	}
}

func reasonOf(err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

// Hooks only tighten, and without them nothing runs where they are wanted.
func TestHooksTighten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		all := []Verdict{Deny, Confirm, Allow}
		floor, hook := rapid.SampledFrom(all).Draw(rt, "floor"), rapid.SampledFrom(all).Draw(rt, "hook")
		d, _, err := Try(context.Background(), Trial{
			Deciders: []Decider{always(Decision{Verdict: floor})},
			Hooks:    hooks{decide: func(context.Context, Action) (Decision, error) { return Decision{Verdict: hook}, nil }},
		}, command("a"))
		if err != nil || d.Verdict != min(floor, hook) {
			rt.Errorf("%v and %v gave %v", floor, hook, d.Verdict)
		}
	})
	run := false
	g, _ := door(t, Options{Hooks: func() Hooks { return nil }})
	if _, err := g.Do(origin(t.Context()), command("a"), ran(&run)); reasonOf(err) != "guard.no_hooks" || run {
		t.Error(err)
	}
	g, _ = door(t, Options{Hooks: with(hooks{decide: func(context.Context, Action) (Decision, error) { panic("x") }})})
	if _, err := g.Do(origin(t.Context()), command("a"), ran(&run)); reasonOf(err) != "guard.decider_failed" || run {
		t.Error(err)
	}
}

func TestAskerIsTold(t *testing.T) {
	t.Parallel()
	var seen []Asker
	look := hooks{
		decide: func(ctx context.Context, _ Action) (Decision, error) {
			a, _ := AskerFrom(ctx)
			seen = append(seen, a)
			return Decision{Verdict: Allow}, nil
		},
		after: func(ctx context.Context, _ Action, s Shown) (Shown, error) {
			a, _ := AskerFrom(ctx)
			seen = append(seen, a)
			return s, nil
		},
	}
	g, s := door(t, Options{Hooks: with(look), Role: func(session.Origin) roles.Role { return roles.User }})
	if _, err := g.Do(origin(t.Context()), command("a"), func(context.Context) (Outcome, error) { return Outcome{Value: shower{}}, nil }); err != nil {
		t.Fatal(err)
	}
	want := Asker{Call: s.records[0].Call, Platform: "local", UserID: "ann", Role: "user", Session: "s"}
	if len(seen) != 2 || seen[0] != want || seen[1] != want {
		t.Errorf("%+v, want %+v", seen, want)
	}
}

// shower is a result with texts.
type shower struct{ text string }

func (s shower) Shown() Shown          { return Shown{Stdout: s.text} }
func (s shower) WithShown(n Shown) any { return shower{n.Stdout} }
func (s shower) Blank() any            { return shower{} }

func TestPostHooks(t *testing.T) {
	t.Parallel()
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	for name, c := range map[string]struct {
		after func(Shown) (Shown, error)
		value any
		want  any
		fails bool
	}{
		"change":  {after: func(s Shown) (Shown, error) { s.Stdout += " seen hunter2"; return s, nil }, value: shower{"x"}, want: shower{"x seen ***"}},
		"nothing": {after: func(s Shown) (Shown, error) { return s, nil }, value: shower{"x"}, want: shower{"x"}},
		"error":   {after: func(s Shown) (Shown, error) { return s, errors.New("broken") }, value: shower{"x"}, want: shower{}, fails: true},
		"panic":   {after: func(Shown) (Shown, error) { panic("broken") }, value: shower{"x"}, want: shower{}, fails: true},
		"unknown": {after: func(s Shown) (Shown, error) { return s, nil }, value: "x", fails: true},
	} {
		g, s := door(t, Options{Redact: hide, Hooks: with(hooks{after: func(_ context.Context, _ Action, s Shown) (Shown, error) { return c.after(s) }})})
		ctx, cancel := context.WithCancel(origin(t.Context()))
		out, err := g.Do(ctx, command("a"), func(context.Context) (Outcome, error) {
			cancel() // hooks see also what a cancelled call brought
			return Outcome{Value: c.value}, nil
		})
		if err != nil || out.Value != c.want {
			t.Errorf("%s: %v %v", name, out.Value, err)
		}
		wantStatus := StatusOK
		if c.fails {
			wantStatus = StatusOutputWithheld
		}
		if out.Status != wantStatus || (out.Withheld != nil) != c.fails || s.records[1].Status != string(wantStatus) {
			t.Errorf("%s: %+v, recorded %+v", name, out, s.records[1])
		}
		if c.fails {
			if id, args := out.Withheld.TextID(); id != "guard.withheld" || args[0] != "ok" {
				t.Errorf("%s: %s %v", name, id, args)
			}
		}
	}
}

// What an effect says may be seen before its end only where no hook wants to see it first.
func TestVisible(t *testing.T) {
	t.Parallel()
	if Visible(t.Context()) {
		t.Error("visible outside an effect")
	}
	pass := func(_ context.Context, _ Action, s Shown) (Shown, error) { return s, nil }
	for name, c := range map[string]struct {
		hooks func() Hooks
		want  bool
	}{"no hooks": {nil, true}, "pre hooks": {with(hooks{}), true}, "post hooks": {with(hooks{after: pass}), false}} {
		g, _ := door(t, Options{Hooks: c.hooks})
		_, err := g.Do(origin(t.Context()), command("a"), func(ctx context.Context) (Outcome, error) {
			if Visible(ctx) != c.want {
				t.Errorf("%s: visible %v", name, !c.want)
			}
			return Outcome{Value: shower{"x"}}, nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sink keeps records and can fail for one kind.
type sink struct {
	mu      sync.Mutex
	records []audit.Record
	fail    map[audit.Kind]error
	onWrite func(audit.Record)
	written func(audit.Record)
}

func (s *sink) Append(ctx context.Context, r audit.Record) (audit.Record, error) {
	if s.onWrite != nil {
		s.onWrite(r)
	}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail[r.Kind]; err != nil {
		return r, err
	}
	s.records = append(s.records, r)
	if s.written != nil {
		s.written(r)
	}
	return r, nil
}

func (s *sink) kinds() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.records {
		out = append(out, strings.TrimSuffix(string(r.Kind)+" "+r.Status, " "))
	}
	return out
}

type verdict func(context.Context, Action) (Decision, error)

func (f verdict) Decide(ctx context.Context, a Action) (Decision, error) { return f(ctx, a) }

func always(d Decision) Decider {
	return verdict(func(context.Context, Action) (Decision, error) { return d, nil })
}

type approver func(context.Context, Request) (bool, error)

func (f approver) Approve(ctx context.Context, r Request) (bool, error) { return f(ctx, r) }

func origin(ctx context.Context) context.Context {
	return session.WithOrigin(ctx, session.Origin{
		Caller: roles.Caller{Platform: "local", UserID: "ann"}, Session: "s", Channel: "terminal",
	})
}

func door(t *testing.T, o Options) (*Guard, *sink) {
	t.Helper()
	s, _ := o.Sink.(*sink)
	if s == nil {
		s = &sink{}
		o.Sink = s
	}
	if o.Deciders == nil {
		o.Deciders = []Decider{always(Decision{Verdict: Allow})}
	}
	if o.Role == nil {
		o.Role = func(session.Origin) roles.Role { return roles.Admin }
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g, s
}

func ran(flag *bool) func(context.Context) (Outcome, error) {
	return func(context.Context) (Outcome, error) {
		*flag = true
		return Outcome{Detail: "done"}, nil
	}
}

func TestNewWantsItsParts(t *testing.T) {
	t.Parallel()
	role := func(session.Origin) roles.Role { return roles.Admin }
	for name, o := range map[string]Options{
		"deciders": {Sink: &sink{}, Role: role},
		"sink":     {Deciders: []Decider{always(Decision{})}, Role: role},
		"role":     {Deciders: []Decider{always(Decision{})}, Sink: &sink{}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("made a door without %s", name)
		}
	}
}

func TestAllowedCall(t *testing.T) {
	t.Parallel()
	g, s := door(t, Options{Instance: "i", Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }})
	code := 3
	var inside string
	var before []string
	out, err := g.Do(origin(t.Context()), Action{
		Tool: "run_command", Command: "echo hunter2", Cwd: "/tmp", Args: json.RawMessage(`{"command":"echo hunter2"}`),
	}, func(ctx context.Context) (Outcome, error) {
		inside, before = CallID(ctx), s.kinds()
		return Outcome{Status: StatusOK, ExitCode: &code, Detail: "said hunter2", Value: 42}, nil
	})
	if err != nil || out.Value != 42 || out.Status != StatusOK {
		t.Errorf("Do: %+v, %v", out, err)
	}
	if diff := cmp.Diff([]string{"intent"}, before); diff != "" {
		t.Errorf("records at the time of the effect:\n%s", diff)
	}
	base := audit.Record{
		Call: inside, Instance: "i", Caller: "local:ann", Role: "admin", Session: "s", Channel: "terminal", Tool: "run_command",
	}
	intent, outcome := base, base
	intent.Kind, intent.Effects, intent.Command, intent.Cwd = audit.Intent, []string{"execute"}, "echo ***", "/tmp"
	intent.Args, intent.Verdict = json.RawMessage(`{"command":"echo ***"}`), "allow"
	outcome.Kind, outcome.Status, outcome.ExitCode, outcome.Detail = audit.Outcome, "ok", &code, "said ***"
	if diff := cmp.Diff([]audit.Record{intent, outcome}, s.records); diff != "" || inside == "" {
		t.Errorf("call %q\n%s", inside, diff)
	}
}

// Whatever stands in the way, nothing runs and the refusal is on record.
func TestRefusals(t *testing.T) {
	t.Parallel()
	no := errors.New("no line")
	code := 2
	cases := []struct {
		name string
		o    Options
		ctx  func(context.Context) context.Context
		want Refusal
	}{
		{name: "no origin", ctx: func(ctx context.Context) context.Context { return ctx },
			want: Refusal{Status: StatusPermissionDenied, Reason: "guard.no_origin"}},
		{name: "no role", o: Options{Role: func(session.Origin) roles.Role { return roles.None }},
			want: Refusal{Status: StatusPermissionDenied, Reason: "guard.no_role"}},
		{name: "a role that does not exist", o: Options{Role: func(session.Origin) roles.Role { return 99 }},
			want: Refusal{Status: StatusPermissionDenied, Reason: "guard.no_role"}},
		{name: "the zero decision", o: Options{Deciders: []Decider{always(Decision{})}},
			want: Refusal{Status: StatusPolicyDenied}},
		{name: "denied", o: Options{Deciders: []Decider{always(Decision{Verdict: Allow}),
			always(Decision{Rule: "r", Reason: "x.y", Args: []any{1}, Stderr: "sh: no", ExitCode: &code})}},
			want: Refusal{Status: StatusPolicyDenied, Rule: "r", Reason: "x.y", Args: []any{1}, Stderr: "sh: no", ExitCode: &code}},
		{name: "a decider fails", o: Options{Deciders: []Decider{verdict(func(context.Context, Action) (Decision, error) {
			return Decision{Verdict: Allow}, errors.New("broken")
		})}}, want: Refusal{Status: StatusPolicyDenied, Rule: "guard.verdict", Reason: "guard.decider_failed", Args: []any{"guard.verdict", "broken"}}},
		{name: "a decider panics", o: Options{Deciders: []Decider{verdict(func(context.Context, Action) (Decision, error) { panic("ouch") })}},
			want: Refusal{Status: StatusPolicyDenied, Rule: "guard.verdict", Reason: "guard.decider_failed", Args: []any{"guard.verdict", "panic: ouch"}}},
		{name: "a verdict that does not exist", o: Options{Deciders: []Decider{always(Decision{Verdict: 7})}},
			want: Refusal{Status: StatusPolicyDenied, Rule: "guard.verdict", Reason: "guard.decider_failed", Args: []any{"guard.verdict", "verdict 7"}}},
		{name: "nobody to ask", o: confirming(nil),
			want: Refusal{Status: StatusApprovalUnavailable, Rule: "ask", Reason: "guard.approval_unavailable"}},
		{name: "nobody answers here", o: confirming(func(context.Context, Request) (bool, error) {
			return false, fmt.Errorf("piped: %w", ErrNoApprover)
		}), want: Refusal{Status: StatusApprovalUnavailable, Rule: "ask", Reason: "guard.approval_unavailable"}},
		{name: "asking fails, yes or not", o: confirming(func(context.Context, Request) (bool, error) { return true, no }),
			want: Refusal{Status: StatusApprovalUnavailable, Rule: "ask", Reason: "guard.approval_unavailable"}},
		{name: "asking panics", o: confirming(func(context.Context, Request) (bool, error) { panic("ouch") }),
			want: Refusal{Status: StatusApprovalUnavailable, Rule: "ask", Reason: "guard.approval_unavailable"}},
		{name: "the answer is no", o: confirming(func(context.Context, Request) (bool, error) { return false, nil }),
			want: Refusal{Status: StatusApprovalDenied, Rule: "ask", Reason: "guard.approval_denied"}},
		{name: "cancelled", ctx: func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(origin(ctx))
			cancel()
			return ctx
		}, want: Refusal{Status: StatusCancelled, Reason: "guard.cancelled"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, s := door(t, c.o)
			if c.ctx == nil {
				c.ctx = origin
			}
			run := false
			out, err := g.Do(c.ctx(t.Context()), Action{Tool: "t"}, ran(&run))
			var r *Refusal
			if !errors.As(err, &r) || run || out.Status != c.want.Status {
				t.Fatalf("ran %v, outcome %+v, error %v", run, out, err)
			}
			got := *r
			got.Err = nil
			if len(got.Args) == 1 {
				if _, isWhy := got.Args[0].(why); isWhy {
					got.Args = nil
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"refusal " + string(c.want.Status)}, s.kinds()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func confirming(f approver) Options {
	o := Options{Deciders: []Decider{always(Decision{Verdict: Confirm, Rule: "ask", Reason: "x.why"})}}
	if f != nil {
		o.Approver = f
	}
	return o
}

func TestApprovedCall(t *testing.T) {
	t.Parallel()
	o := confirming(func(_ context.Context, r Request) (bool, error) {
		if r.ID == "" || r.Rule != "ask" || r.Reason != "x.why" || r.Caller != "local:ann" || r.Session != "s" || r.Action.Command != "echo ***" {
			t.Errorf("request: %+v", r)
		}
		return true, nil
	})
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	g, s := door(t, o)
	run := false
	if _, err := g.Do(origin(t.Context()), Action{Tool: "t", Command: "echo hunter2"}, ran(&run)); err != nil || !run {
		t.Errorf("ran %v, %v", run, err)
	}
	if s.records[0].Verdict != "confirm" || s.records[0].Rule != "ask" || s.records[0].Reason != "x.why" {
		t.Errorf("intent: %+v", s.records[0])
	}
}

// What changed while a person was thinking counts.
func TestApprovedButNoLongerAllowed(t *testing.T) {
	t.Parallel()
	t.Run("rule", func(t *testing.T) {
		t.Parallel()
		d := Decision{Verdict: Confirm, Rule: "ask"}
		g, _ := door(t, Options{
			Deciders: []Decider{verdict(func(context.Context, Action) (Decision, error) { return d, nil })},
			Approver: approver(func(context.Context, Request) (bool, error) {
				d = Decision{Verdict: Deny, Rule: "new"}
				return true, nil
			}),
		})
		wantRefusal(t, g, StatusPolicyDenied, "new")
	})
	t.Run("role", func(t *testing.T) {
		t.Parallel()
		role := roles.Admin
		o := confirming(func(context.Context, Request) (bool, error) {
			role = roles.User
			return true, nil
		})
		o.Role = func(session.Origin) roles.Role { return role }
		g, _ := door(t, o)
		wantRefusal(t, g, StatusPermissionDenied, "")
	})
	t.Run("patience", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(origin(t.Context()))
		g, s := door(t, confirming(func(context.Context, Request) (bool, error) {
			cancel()
			return true, nil
		}))
		run := false
		_, err := g.Do(ctx, Action{}, ran(&run))
		if run || !errors.Is(err, context.Canceled) {
			t.Errorf("ran %v, %v", run, err)
		}
		if diff := cmp.Diff([]string{"refusal cancelled"}, s.kinds()); diff != "" {
			t.Error(diff)
		}
	})
}

func wantRefusal(t *testing.T, g *Guard, status Status, rule string) {
	t.Helper()
	run := false
	_, err := g.Do(origin(t.Context()), Action{}, ran(&run))
	var r *Refusal
	if !errors.As(err, &r) || run || r.Status != status || r.Rule != rule {
		t.Errorf("ran %v, %v, want %s by %q", run, err, status, rule)
	}
}

func TestApprovalExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var deaf []chan struct{}
		for _, honest := range []bool{true, false} {
			late := make(chan struct{})
			deaf = append(deaf, late)
			o := confirming(func(ctx context.Context, _ Request) (bool, error) {
				if honest {
					<-ctx.Done()
					return false, ctx.Err()
				}
				<-late
				return true, nil
			})
			o.ApprovalWait = func() time.Duration { return time.Minute }
			g, _ := door(t, o)
			wantRefusal(t, g, StatusApprovalExpired, "ask")
		}
		if took := time.Since(start); took != 2*time.Minute {
			t.Errorf("two waits of a minute took %v", took)
		}
		for _, late := range deaf {
			close(late)
		}
	})
}

func TestIntentFailsNothingRuns(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	g, s := door(t, Options{Sink: &sink{fail: map[audit.Kind]error{audit.Intent: full}}})
	run := false
	_, err := g.Do(origin(t.Context()), Action{}, ran(&run))
	var r *Refusal
	if run || !errors.Is(err, full) || !errors.As(err, &r) || r.Status != StatusInternal || r.Reason != "guard.intent_failed" {
		t.Errorf("ran %v, %v", run, err)
	}
	if len(s.records) != 0 {
		t.Errorf("records: %+v", s.records)
	}
}

func TestRefusalStandsWithoutItsRecord(t *testing.T) {
	t.Parallel()
	g, _ := door(t, Options{
		Deciders: []Decider{always(Decision{Verdict: Deny, Rule: "r"})},
		Sink:     &sink{fail: map[audit.Kind]error{audit.Refusal: errors.New("disk full")}},
	})
	wantRefusal(t, g, StatusPolicyDenied, "r")
}

func TestOutcomeFails(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	g, _ := door(t, Options{Sink: &sink{fail: map[audit.Kind]error{audit.Outcome: full}}})
	run := false
	out, err := g.Do(origin(t.Context()), Action{}, ran(&run))
	if err != nil || !run || out.Status != StatusOK || !errors.Is(out.Unrecorded, full) || !strings.Contains(out.Detail, "disk full") {
		t.Errorf("ran %v, %+v, %v", run, out, err)
	}
}

func TestHowAnEffectEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		run    func(context.Context, context.CancelFunc) (Outcome, error)
		status Status
		err    error
		detail string
	}{
		{"fine", func(context.Context, context.CancelFunc) (Outcome, error) { return Outcome{}, nil }, StatusOK, nil, ""},
		{"timeout", func(context.Context, context.CancelFunc) (Outcome, error) {
			return Outcome{Status: StatusTimeout}, nil
		}, StatusTimeout, nil, ""},
		{"error", func(context.Context, context.CancelFunc) (Outcome, error) { return Outcome{}, broken }, StatusInternal, broken, "broken"},
		{"ok and an error", func(context.Context, context.CancelFunc) (Outcome, error) {
			return Outcome{Status: StatusOK, Detail: "half"}, broken
		}, StatusInternal, broken, "half"},
		{"error with its status", func(context.Context, context.CancelFunc) (Outcome, error) {
			return Outcome{Status: StatusSpawnFailed}, broken
		}, StatusSpawnFailed, broken, "broken"},
		{"cancelled", func(ctx context.Context, cancel context.CancelFunc) (Outcome, error) {
			cancel()
			return Outcome{}, fmt.Errorf("stopped: %w", ctx.Err())
		}, StatusCancelled, context.Canceled, "stopped: context canceled"},
		{"fine although cancelled", func(_ context.Context, cancel context.CancelFunc) (Outcome, error) {
			cancel()
			return Outcome{}, nil
		}, StatusOK, nil, ""},
		{"panic", func(context.Context, context.CancelFunc) (Outcome, error) { panic("ouch") }, StatusInternal, &Panic{}, "guard: the effect panicked: ouch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, s := door(t, Options{})
			ctx, cancel := context.WithCancel(origin(t.Context()))
			defer cancel()
			out, err := g.Do(ctx, Action{}, func(ctx context.Context) (Outcome, error) { return c.run(ctx, cancel) })
			var p *Panic
			if isPanic := errors.As(c.err, &p); isPanic && !errors.As(err, &p) || !isPanic && !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if out.Status != c.status || out.Detail != c.detail {
				t.Errorf("outcome %+v", out)
			}
			if diff := cmp.Diff([]string{"intent", "outcome " + string(c.status)}, s.kinds()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A call that is cancelled around the writing of its intent does not run, and the trail says so.
func TestCancelledBeforeTheEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after bool
		want          []string
	}{
		"before the commit": {before: true, want: []string{"refusal cancelled"}},
		"after the commit":  {after: true, want: []string{"intent", "outcome cancelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(origin(t.Context()))
			defer cancel()
			stop := func(now bool) func(audit.Record) {
				return func(r audit.Record) {
					if now && r.Kind == audit.Intent {
						cancel()
					}
				}
			}
			g, s := door(t, Options{Sink: &sink{onWrite: stop(c.before), written: stop(c.after)}})
			run := false
			out, err := g.Do(ctx, Action{}, ran(&run))
			var r *Refusal
			if run || !errors.As(err, &r) || r.Status != StatusCancelled || out.Status != StatusCancelled {
				t.Errorf("ran %v, %+v, %v", run, out, err)
			}
			if diff := cmp.Diff(c.want, s.kinds()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	g, s := door(t, Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }})
	o, _ := session.FromContext(origin(t.Context()))
	g.Refused(t.Context(), o, "nope", []byte(`{"a":"h\u0075nter2"`), &Refusal{
		Status: StatusInvalidArgument, Reason: "tools.unknown", Args: []any{"nope", "hunter2"}, Err: errors.New("because hunter2"),
	})
	want := []audit.Record{{
		Kind: audit.Refusal, Call: s.records[0].Call, Caller: "local:ann", Role: "admin", Session: "s", Channel: "terminal",
		Tool: "nope", Args: json.RawMessage(`{"a":"h\u0075nter2"`), Verdict: "deny", Status: "invalid_argument",
		Reason: `tools.unknown "nope" "***"`, Detail: "because ***",
	}}
	if diff := cmp.Diff(want, s.records); diff != "" {
		t.Error(diff)
	}
}

func TestRedactArgs(t *testing.T) {
	t.Parallel()
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	for in, want := range map[string]string{
		``:                                  ``,
		`{"a":"hunter2"}`:                   `{"a":"***"}`,
		`{"a":["h\u0075nter2",{"b":1.50}]}`: `{"a":["***",{"b":1.50}]}`,
		`{"h\u0075nter2":1}`:                `{"***":1}`,
		`not json hunter2`:                  `not json ***`,
	} {
		if got := string(redactArgs(redact, []byte(in))); got != want {
			t.Errorf("redactArgs(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestLongTextsAreBounded(t *testing.T) {
	t.Parallel()
	g, s := door(t, Options{})
	long := strings.Repeat("é", 100_000)
	args, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Do(origin(t.Context()), Action{Command: long[:128_000], Args: args}, func(context.Context) (Outcome, error) {
		return Outcome{Detail: long}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	intent, outcome := s.records[0], s.records[1]
	if intent.Command != long[:128_000] {
		t.Errorf("the command was cut to %d bytes", len(intent.Command))
	}
	var cut struct {
		Bytes  int
		SHA256 string
	}
	if err := json.Unmarshal(intent.Args, &cut); err != nil || cut.Bytes != len(args) || len(cut.SHA256) != 64 || len(intent.Args) > maxArgs {
		t.Errorf("arguments: %d bytes, %+v, %v", len(intent.Args), cut, err)
	}
	if len(outcome.Detail) > maxDetail+40 || strings.ToValidUTF8(outcome.Detail, "") != outcome.Detail {
		t.Errorf("detail: %d bytes", len(outcome.Detail))
	}
}

func TestEffectsAreMadeExplicit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want []Effect }{
		{nil, []Effect{Execute}},
		{[]Effect{"bogus"}, []Effect{Execute}},
		{[]Effect{Read, "bogus", Read}, []Effect{Read, Execute}},
		{[]Effect{Read, Write}, []Effect{Read, Write}},
	} {
		if diff := cmp.Diff(c.want, (Action{Effects: c.in}).normal().Effects); diff != "" {
			t.Error(diff)
		}
	}
}

// However the deciders are ordered, the strictest verdict counts, and an error is a deny.
func TestStrictestVerdictCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type vote struct {
			verdict Verdict
			fails   bool
		}
		votes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) vote {
			return vote{Verdict(rapid.IntRange(-2, 4).Draw(t, "verdict")), rapid.IntRange(0, 9).Draw(t, "fails") == 0}
		}), 1, 6).Draw(t, "votes")
		want := Allow
		var deciders []Decider
		for i, v := range votes {
			deciders = append(deciders, verdict(func(context.Context, Action) (Decision, error) {
				if v.fails {
					return Decision{Verdict: Allow}, errors.New("broken")
				}
				return Decision{Verdict: v.verdict, Rule: fmt.Sprint(i)}, nil
			}))
			switch {
			case v.fails || v.verdict != Allow && v.verdict != Confirm:
				want = Deny
			case v.verdict == Confirm && want == Allow:
				want = Confirm
			}
		}
		got := decide(t.Context(), deciders, Action{})
		if got.Verdict != want || got.Rule == "" {
			t.Fatalf("%+v of %+v, want %v", got, votes, want)
		}
	})
	if d := decide(t.Context(), nil, Action{}); d.Verdict != Deny {
		t.Errorf("nobody asked: %v", d.Verdict)
	}
}

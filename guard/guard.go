package guard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

// Options are what the door works with. Deciders, Sink and Role are required.
type Options struct {
	Deciders []Decider // asked in this order; all of them are asked
	// Hooks gives the hooks of this moment: they decide after Deciders and see results. A call keeps those that it
	// began with, except across a wait for a person. nil: none; a nil result denies.
	Hooks    func() Hooks
	Approver Approver // nil: nobody can answer
	Sink     audit.Sink
	Role     func(session.Origin) roles.Role // the caller's role at this moment
	Redact   func(string) string             // the secret filter for what is recorded or shown; nil: none
	Instance string                          // of this process, for the records
	// ApprovalWait is how long a call that begins now waits for a person. Nil or 0: 120 s; negative: not at all.
	ApprovalWait func() time.Duration
	Logger       *slog.Logger // nil: nothing is logged
}

const (
	defaultApprovalWait = 120 * time.Second
	// recordWait bounds the writing of one record, so that a stuck disk does not hold a call for ever.
	recordWait = 10 * time.Second
)

// Guard is the door. It is safe for concurrent use.
type Guard struct {
	o   Options
	log *slog.Logger
}

// New makes a door. It is an error to leave out what a decision or a record rests on: a door that nobody guards would
// let everything through.
func New(o Options) (*Guard, error) {
	switch {
	case len(o.Deciders) == 0:
		return nil, errors.New("guard: no deciders")
	case o.Sink == nil:
		return nil, errors.New("guard: no audit sink")
	case o.Role == nil:
		return nil, errors.New("guard: no role resolver")
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	g := &Guard{o: o, log: o.Logger}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	return g, nil
}

// call is one action on its way through the door.
type call struct {
	id       string
	action   Action
	origin   session.Origin
	role     roles.Role
	hooks    Hooks
	decision Decision
	fixed    bool // no hook may rewrite the action
	rewrites []Rewritten
	as       *Asker // of a trial; nil: by origin and role
}

type callKey struct{}

// CallID returns the id that joins the records of the call that ctx belongs to, for an effect that wants to name
// itself. It is empty outside an effect.
func CallID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.id
	}
	return ""
}

// Do takes an action through the door and, when it may, calls run once with a context derived from ctx. It is Act for
// an effect that cannot follow a rewritten action: an action that a hook rewrites is denied.
func (g *Guard) Do(ctx context.Context, a Action, run func(ctx context.Context) (Outcome, error)) (Outcome, error) {
	return g.act(ctx, &call{id: newID(), action: a.normal(), fixed: true}, func(ctx context.Context, _ Action) (Outcome, error) { return run(ctx) })
}

// Act takes an action through the door and, when it may, calls run once with a context derived from ctx and with the
// action as it was decided: hooks may have rewritten its command, directory and timeout.
//
// The error is a *Refusal exactly when run was not called; the Outcome then has the refusal's status. Otherwise it is
// run's own error, or a *Panic. The origin comes from ctx (session.FromContext).
func (g *Guard) Act(ctx context.Context, a Action, run func(ctx context.Context, a Action) (Outcome, error)) (Outcome, error) {
	return g.act(ctx, &call{id: newID(), action: a.normal()}, run)
}

func (g *Guard) act(ctx context.Context, c *call, run func(ctx context.Context, a Action) (Outcome, error)) (Outcome, error) {
	if r := g.admit(ctx, c); r != nil {
		g.recordRefusal(ctx, c, r)
		return Outcome{Status: r.Status}, r
	}
	if r := g.recordIntent(ctx, c); r != nil {
		return Outcome{Status: r.Status}, r
	}
	if r := cancelled(ctx); r != nil {
		out := Outcome{Status: r.Status}
		g.recordOutcome(ctx, c, &out)
		return out, r
	}
	ctx = context.WithValue(ctx, callKey{}, c)
	out, err := g.effect(ctx, func(ctx context.Context) (Outcome, error) { return run(ctx, c.action) })
	out = g.after(ctx, c, completed(ctx, out, err))
	g.recordOutcome(ctx, c, &out)
	return out, err
}

// admit decides whether the call may run, asking a person where it has to.
func (g *Guard) admit(ctx context.Context, c *call) *Refusal {
	var ok bool
	if c.origin, ok = session.FromContext(ctx); !ok {
		return &Refusal{Status: StatusPermissionDenied, Reason: "guard.no_origin"}
	}
	if c.role = g.o.Role(c.origin); !c.role.AtLeast(roles.Guest) {
		return &Refusal{Status: StatusPermissionDenied, Reason: "guard.no_role"}
	}
	if r := cancelled(ctx); r != nil {
		return r
	}
	c.decision = g.judge(ctx, c)
	switch c.decision.Verdict {
	case Allow:
		return cancelled(ctx)
	case Confirm:
		if r := g.ask(ctx, c); r != nil {
			return r
		}
		return g.again(ctx, c)
	}
	return denied(ctx, c.decision)
}

// again judges an action that a person has agreed to: rules and roles may have changed while they were thinking. What
// they saw was the action, so another reason to ask about the same action is answered too.
func (g *Guard) again(ctx context.Context, c *call) *Refusal {
	if now := g.o.Role(c.origin); !now.AtLeast(c.role) {
		return &Refusal{
			Status: StatusPermissionDenied, Reason: "guard.role_lowered", Args: []any{c.role.String(), now.String()},
		}
	}
	if d := g.judgeAgain(ctx, c); d.Verdict != Confirm && d.Verdict != Allow {
		c.decision = d
		return denied(ctx, d)
	}
	return cancelled(ctx)
}

// denied is the refusal for a deny; a call that was cancelled while being judged is only that.
func denied(ctx context.Context, d Decision) *Refusal {
	if r := cancelled(ctx); r != nil {
		return r
	}
	return &Refusal{
		Status: StatusPolicyDenied, Rule: d.Rule, Reason: d.Reason, Args: d.Args, Stderr: d.Stderr, ExitCode: d.ExitCode,
	}
}

func cancelled(ctx context.Context) *Refusal {
	if err := ctx.Err(); err != nil {
		return &Refusal{Status: StatusCancelled, Reason: "guard.cancelled", Err: err}
	}
	return nil
}

// Panic is the error of an effect that panicked: it ran, and nobody knows how far.
type Panic struct {
	Value any
}

func (p *Panic) Error() string { return fmt.Sprintf("guard: the effect panicked: %v", p.Value) }

// TextID returns the message id and its values for the texts catalog.
func (p *Panic) TextID() (string, []any) { return "guard.panicked", nil }

func (g *Guard) effect(ctx context.Context, run func(context.Context) (Outcome, error)) (out Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			g.log.ErrorContext(ctx, "an effect panicked", "call", CallID(ctx),
				"panic", g.o.Redact(fmt.Sprint(v)), "stack", g.o.Redact(string(debug.Stack())))
			out, err = Outcome{Status: StatusInternal}, &Panic{Value: v}
		}
	}()
	return run(ctx)
}

// completed gives an outcome the status and detail that its error implies.
func completed(ctx context.Context, out Outcome, err error) Outcome {
	if err == nil {
		if out.Status == "" {
			out.Status = StatusOK
		}
		return out
	}
	if out.Status == "" || out.Status == StatusOK || out.Status == StatusRunning {
		out.Status = StatusInternal
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			out.Status = StatusCancelled
		}
	}
	if out.Detail == "" {
		out.Detail = err.Error()
	}
	return out
}

// newID returns 10 characters of base32, 50 random bits: enough to tell the calls of one trail apart.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

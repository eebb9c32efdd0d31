package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

type answer struct {
	ok  bool
	err error
}

// ask has a person decide. Nil means that they agreed in time.
func (g *Guard) ask(ctx context.Context, c *call) *Refusal {
	if g.o.Approver == nil {
		return unanswered(c, StatusApprovalUnavailable, "guard.approval_unavailable", ErrNoApprover)
	}
	wait := g.approvalWait()
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	answers := make(chan answer, 1) // with room, so that an answer after the wait blocks nobody
	go func() {
		defer func() {
			if v := recover(); v != nil {
				answers <- answer{err: fmt.Errorf("the approver panicked: %v", v)}
			}
		}()
		ok, err := g.o.Approver.Approve(waiting, g.request(c))
		answers <- answer{ok, err}
	}()
	select {
	case <-waiting.Done():
		return expired(ctx, c, wait)
	case a := <-answers:
		switch {
		case waiting.Err() != nil:
			return expired(ctx, c, wait)
		case a.err != nil:
			if !errors.Is(a.err, ErrNoApprover) {
				g.log.WarnContext(ctx, "asking for approval failed", "call", c.id, "err", a.err)
			}
			return unanswered(c, StatusApprovalUnavailable, "guard.approval_unavailable", a.err)
		case !a.ok:
			return unanswered(c, StatusApprovalDenied, "guard.approval_denied", nil)
		}
		return nil
	}
}

// approvalWait is how long a person is waited for from now on.
func (g *Guard) approvalWait() time.Duration {
	if g.o.ApprovalWait != nil {
		if d := g.o.ApprovalWait(); d != 0 {
			return d
		}
	}
	return defaultApprovalWait
}

func expired(ctx context.Context, c *call, wait time.Duration) *Refusal {
	if r := cancelled(ctx); r != nil {
		return r
	}
	r := unanswered(c, StatusApprovalExpired, "guard.approval_expired", context.DeadlineExceeded)
	r.Args = append(r.Args, wait.Seconds())
	return r
}

// unanswered is the refusal of a call that needed a yes and got none. Its first value is why a person was asked.
func unanswered(c *call, status Status, reason string, err error) *Refusal {
	return &Refusal{
		Status: status, Rule: c.decision.Rule, Reason: reason, Args: []any{why{&c.decision}}, Err: err,
	}
}

func (g *Guard) request(c *call) Request {
	a := c.action
	a.Command, a.Input, a.Args = g.o.Redact(a.Command), g.o.Redact(a.Input), redactArgs(g.o.Redact, a.Args)
	a.Env = slices.Clone(a.Env)
	for i := range a.Env {
		a.Env[i] = g.o.Redact(a.Env[i])
	}
	return Request{
		ID: c.id, Action: a, Rule: c.decision.Rule, Reason: c.decision.Reason, Args: c.decision.Args,
		Caller: callerID(c.origin.Caller), Session: c.origin.Session,
	}
}

// why words a decision inside another message: the catalog words values that are errors with a text id.
type why struct{ d *Decision }

func (w why) Error() string {
	if w.d.Reason != "" {
		return w.d.Reason
	}
	return w.d.Rule
}

// TextID returns the decision's message id and values.
func (w why) TextID() (string, []any) { return w.d.Reason, w.d.Args }

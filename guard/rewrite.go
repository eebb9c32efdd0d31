package guard

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// maxRewrites is how often the action of one call may be rewritten.
const maxRewrites = 4

// Rewrite is what a hook wants an action to be; nil fields stay as they are.
type Rewrite struct {
	Rule    string // of the hook
	Command *string
	Cwd     *string // absolute
	Timeout *time.Duration
}

// Rewritten is one rewrite that took place.
type Rewritten struct {
	Rule   string
	Before Action
}

// Hooks are what deployers put around actions: they decide, and they see what came of an action.
type Hooks interface {
	Decider
	PostHook
}

// judge asks everybody, anew after every rewrite.
func (g *Guard) judge(ctx context.Context, c *call) Decision {
	if g.o.Hooks != nil {
		c.hooks = g.o.Hooks()
	}
	for {
		d := g.decideOnce(ctx, c)
		if d.Verdict == Deny || d.Rewrite == nil {
			return d
		}
		if no := c.rewrite(*d.Rewrite); no != nil {
			return *no
		}
	}
}

// judgeAgain judges what a person agreed to with the hooks of now. They agreed to the action as it is: it cannot be
// rewritten any more.
func (g *Guard) judgeAgain(ctx context.Context, c *call) Decision {
	if g.o.Hooks != nil {
		c.hooks = g.o.Hooks()
	}
	d := g.decideOnce(ctx, c)
	if d.Verdict != Deny && d.Rewrite != nil {
		return *refuseRewrite(*d.Rewrite, "guard.rewrite_late")
	}
	return d
}

func (g *Guard) decideOnce(ctx context.Context, c *call) Decision {
	ctx = context.WithValue(ctx, askerKey{}, c.asker())
	d := decide(ctx, g.o.Deciders, c.action)
	if g.o.Hooks == nil || d.Verdict == Deny {
		return d // hooks cannot loosen it
	}
	if c.hooks == nil {
		return Decision{Verdict: Deny, Rule: "hooks", Reason: "guard.no_hooks"}
	}
	return stricter(d, one(ctx, c.hooks, c.action))
}

// rewrite changes the call's action, or says why not.
func (c *call) rewrite(r Rewrite) *Decision {
	a := c.action
	if r.Command != nil {
		a.Command = *r.Command
	}
	if r.Cwd != nil {
		a.Cwd = *r.Cwd
	}
	if r.Timeout != nil {
		a.Timeout = *r.Timeout
	}
	switch {
	case c.fixed || c.action.Command == "":
		return refuseRewrite(r, "guard.rewrite_impossible")
	case a.Command == "" || !filepath.IsAbs(a.Cwd) || a.Timeout < 0:
		return refuseRewrite(r, "guard.rewrite_invalid")
	case c.action.same(a):
		return refuseRewrite(r, "guard.rewrite_nothing")
	case r.Timeout != nil && *r.Timeout > c.action.Timeout:
		return refuseRewrite(r, "guard.rewrite_longer")
	case len(c.rewrites) == maxRewrites:
		return refuseRewrite(r, "guard.rewrite_often", maxRewrites)
	}
	for _, before := range c.rewrites {
		if before.Rule == r.Rule {
			return refuseRewrite(r, "guard.rewrite_again")
		}
		if before.Before.same(a) {
			return refuseRewrite(r, "guard.rewrite_back")
		}
	}
	c.rewrites = append(c.rewrites, Rewritten{Rule: r.Rule, Before: c.action})
	c.action = a
	return nil
}

// same compares what a rewrite may change.
func (a *Action) same(b Action) bool {
	return a.Command == b.Command && a.Cwd == b.Cwd && a.Timeout == b.Timeout
}

func refuseRewrite(r Rewrite, reason string, args ...any) *Decision {
	return &Decision{Verdict: Deny, Rule: r.Rule, Reason: reason, Args: append([]any{r.Rule}, args...)}
}

// Asker says for whom a decision is made, to deciders and hooks that go by that.
type Asker struct {
	Call                      string // the id of the call, as the records have it
	Platform, UserID, GroupID string
	Role                      string // guest, user or admin, at the time of the call
	Session                   string
}

type askerKey struct{}

// AskerFrom returns for whom a decision is made. It is not ok outside a decision or post hook.
func AskerFrom(ctx context.Context) (Asker, bool) {
	a, ok := ctx.Value(askerKey{}).(Asker)
	return a, ok
}

// WithAsker is for trying deciders and hooks outside the door.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

func (c *call) asker() Asker {
	if c.as != nil {
		return *c.as
	}
	who := c.origin.Caller
	return Asker{
		Call: c.id, Platform: who.Platform, UserID: who.UserID, GroupID: who.GroupID, Role: c.role.String(),
		Session: c.origin.Session,
	}
}

// history tells a record how the action came to be what it is.
func (c *call) history() string {
	out := ""
	for _, r := range c.rewrites {
		out += fmt.Sprintf("rewritten by %s from: %s (in %s, timeout %s)\n", r.Rule, r.Before.Command, r.Before.Cwd, r.Before.Timeout)
	}
	return out
}

// RewritesFrom returns how the action of an effect was rewritten, oldest first, for an effect that tells its caller.
// It is empty outside an effect.
func RewritesFrom(ctx context.Context) []Rewritten {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.rewrites
	}
	return nil
}

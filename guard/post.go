package guard

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Shown is what a post hook sees of a result. It may change the first four; the others are for reading.
type Shown struct {
	Stdout, Stderr string // of a command
	Note           string // what the result says beside its data
	Text           string // of every other tool: its data as JSON text

	Status   Status
	ExitCode *int
	Error    string
}

// Shower is an Outcome.Value that post hooks can see. A value that is none goes past them unless there are hooks that
// want to see it: then it is withheld.
type Shower interface {
	Shown() Shown
	// WithShown returns the value with the texts that hooks may change.
	WithShown(Shown) any
	// Blank returns the value with the facts alone: no text that came out of the effect.
	Blank() any
}

// PostHook sees what came of an action before anybody else does, and may change its texts. An error withholds them.
// Sees says whether it wants to see the results of such an action at all.
type PostHook interface {
	Sees(a Action) bool
	After(ctx context.Context, a Action, s Shown) (Shown, error)
}

// Withheld says that an effect ran and that its result is kept back because a hook failed on it.
type Withheld struct {
	Was Status // what the effect came to
	Err error
}

func (w *Withheld) Error() string {
	return fmt.Sprintf("guard: %s, but a hook failed: %v", w.Was, w.Err)
}

// Unwrap returns the hook's error.
func (w *Withheld) Unwrap() error { return w.Err }

// TextID returns the message id and its values for the texts catalog.
func (w *Withheld) TextID() (string, []any) { return "guard.withheld", []any{string(w.Was), w.Err} }

// Visible reports whether what the effect that ctx belongs to says may be seen before it has ended: no hook wants to see
// it first. It is false outside an effect.
func Visible(ctx context.Context) bool {
	c, ok := ctx.Value(callKey{}).(*call)
	return ok && (c.hooks == nil || !c.hooks.Sees(c.action))
}

// after shows the outcome to the hooks. They run also when the call was cancelled: what it brought so far must not
// leave by another way.
func (g *Guard) after(ctx context.Context, c *call, out Outcome) Outcome {
	if c.hooks == nil || out.Value == nil || !c.hooks.Sees(c.action) {
		return out
	}
	shower, ok := out.Value.(Shower)
	if !ok {
		err := fmt.Errorf("a result of type %T cannot be shown to hooks", out.Value)
		out.Value = nil
		return withhold(out, err)
	}
	before := shower.Shown()
	ctx = context.WithValue(context.WithoutCancel(ctx), askerKey{}, c.asker())
	after, err := g.afterHook(ctx, c, before)
	if err != nil {
		out.Value = shower.Blank()
		return withhold(out, err)
	}
	if after != before {
		after.Stdout, after.Stderr = g.o.Redact(after.Stdout), g.o.Redact(after.Stderr)
		after.Note, after.Text = g.o.Redact(after.Note), g.o.Redact(after.Text)
		out.Value = shower.WithShown(after)
	}
	return out
}

func (g *Guard) afterHook(ctx context.Context, c *call, s Shown) (out Shown, err error) {
	defer func() {
		if v := recover(); v != nil {
			g.log.ErrorContext(ctx, "a hook panicked", "call", c.id, "panic", g.o.Redact(fmt.Sprint(v)), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return c.hooks.After(ctx, c.action, s)
}

func withhold(out Outcome, err error) Outcome {
	w := &Withheld{Was: out.Status, Err: err}
	out.Withheld, out.Status = w, StatusOutputWithheld
	out.Detail = w.Error() + "\n" + out.Detail
	return out
}

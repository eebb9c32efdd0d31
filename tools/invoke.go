package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/session"
)

// recordedArgs is how much of arguments that did not decode goes into the record, in bytes.
const recordedArgs = 4096

// Invoke runs one call and always answers: what went wrong is in the result. The order is: find, role now, decode,
// plan, guard, run. A call that does not reach the guard is recorded as a refusal.
func (v *View) Invoke(ctx context.Context, c Call) Result {
	ctx = context.WithValue(session.WithOrigin(ctx, v.origin), viewKey{}, v)
	if c.Live != nil {
		ctx = context.WithValue(ctx, liveKey{}, c.Live)
	}
	call := &invocation{view: v, given: c.Args, action: guard.Action{Tool: Clip(c.Name, 80), Args: record(c.Args)}}
	if err := call.prepare(ctx, c); err != nil {
		return call.refuse(ctx, err)
	}
	out, err := v.registry.opts.Guard.Act(ctx, call.action, call.perform)
	if err != nil {
		return call.failed(err)
	}
	res, ok := out.Value.(Result)
	if out.Withheld != nil {
		return call.withheld(res, out.Withheld)
	}
	if !ok {
		return call.failed(fmt.Errorf("tool %s: the guard gave back %T in place of its result", c.Name, out.Value))
	}
	if out.Unrecorded != nil {
		res.Error = strings.TrimPrefix(res.Error+"\n"+v.registry.opts.Texts().Error(out.Unrecorded), "\n")
	}
	return res
}

type liveKey struct{}

// Live is the Call's, for an effect that can be looked at; nil: nobody looks, or nobody may.
func Live(ctx context.Context) func(peek func() string) {
	live, _ := ctx.Value(liveKey{}).(func(func() string))
	if !guard.Visible(ctx) {
		return nil
	}
	return live
}

// invocation is one call on its way through the pipeline.
type invocation struct {
	view   *View
	tool   Tool // zero until found
	args   any
	given  json.RawMessage
	action guard.Action
}

// prepare does everything that comes before the guard.
func (i *invocation) prepare(ctx context.Context, c Call) (err error) {
	defer i.rescue("plan", &err)
	if _, ok := session.FromContext(ctx); !ok {
		return Denied("tools.no_origin", i.action.Tool)
	}
	if c.Origin != (session.Origin{}) && c.Origin != i.view.origin {
		return Denied("tools.other_origin", i.action.Tool)
	}
	tool, err := i.view.Find(c.Name)
	i.tool = tool
	if err != nil {
		return err
	}
	i.action.Effects = tool.effects()
	args, normal, err := tool.decode(c.Args)
	if err != nil {
		return err
	}
	i.args, i.action.Args = args, normal
	a, err := tool.plan(ctx, args)
	if err != nil {
		return err
	}
	a.Tool, a.Args = tool.Name, normal
	if len(a.Effects) == 0 {
		a.Effects = tool.effects()
	}
	i.action = a
	if i.view.narrow && dangerous(a.Effects) {
		return Denied("tools.not_in_view", tool.Name)
	}
	if i.view.registry.opts.Guard == nil {
		return errors.New("no guard is set: nothing runs")
	}
	return ctx.Err()
}

// perform is the effect, called by the guard. Its own failure is a result too, so it returns no error.
func (i *invocation) perform(ctx context.Context, decided guard.Action) (guard.Outcome, error) {
	i.action = decided
	res, err := i.run(ctx)
	detail := res.Error
	if err != nil {
		res, detail = i.failed(err), err.Error()
	}
	return guard.Outcome{Status: res.Status, ExitCode: res.Exit, Detail: detail, Value: res}, nil
}

// withheld is the answer of a call whose result a hook failed on: that it ran, and the facts.
func (i *invocation) withheld(res Result, w *guard.Withheld) Result {
	cat := i.view.registry.opts.Texts()
	out := Result{Status: guard.StatusOutputWithheld, Body: res.Body, Exit: res.Exit, Error: cat.Error(w)}
	var named interface{ HookRule() string }
	if errors.As(w.Err, &named) {
		out.Rule = named.HookRule()
	}
	return out
}

// run calls the tool. The role is checked once more: an approval may have been waited for.
func (i *invocation) run(ctx context.Context) (res Result, err error) {
	defer i.rescue("run", &err)
	if err := i.view.allowed(i.tool); err != nil {
		return Result{}, err
	}
	res, err = i.tool.run(ctx, i.args, i.action)
	if res.Status == "" {
		res.Status = guard.StatusOK
	}
	return res, err
}

// rescue turns a panic of a tool into an error.
func (i *invocation) rescue(stage string, err *error) {
	if p := recover(); p != nil {
		i.view.registry.opts.Logger.Error("tool panicked", "tool", i.tool.Name, "stage", stage, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("tool %s: panic in %s: %v", i.tool.Name, stage, p)
	}
}

// refuse records and words a call that did not reach the guard.
func (i *invocation) refuse(ctx context.Context, err error) Result {
	res := i.failed(err)
	if g := i.view.registry.opts.Guard; g != nil {
		g.Refused(ctx, i.view.origin, i.action.Tool, i.action.Args, refusal(err))
	}
	return res
}

// failed words an error as a result.
func (i *invocation) failed(err error) Result {
	r := refusal(err)
	res := Result{Status: r.Status, Rule: r.Rule, Exit: r.ExitCode, Error: i.word(err, r)}
	var f *Fault
	if errors.As(err, &f) {
		res.Body = f.Body
	}
	if res.Body == nil && i.tool.Refused != nil {
		a := i.action
		if a.Command == "" && len(i.given) <= MaxArgs {
			a.Args = i.given // those for the record may be cut
		}
		res.Body = i.tool.Refused(a, r)
	}
	return res
}

func (i *invocation) word(err error, r *guard.Refusal) string {
	cat := i.view.registry.opts.Texts()
	switch {
	case r.Status == guard.StatusInternal && r.Reason == "":
		i.view.registry.opts.Logger.Error("tool failed", "tool", i.action.Tool, "err", err)
		return cat.Say("tools.internal", i.action.Tool, err)
	case r.Status == guard.StatusCancelled && r.Reason == "":
		return cat.Say("tools.cancelled", i.action.Tool)
	case r.Reason == "":
		return cat.Say("tools.refused", i.action.Tool, r.Status)
	}
	return cat.Error(err)
}

// refusal is any error of the pipeline in the form in which the guard records it.
func refusal(err error) *guard.Refusal {
	var r *guard.Refusal
	var f *Fault
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &f):
		return &guard.Refusal{Status: f.Status, Reason: f.Code, Args: f.Args, Err: f.Err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &guard.Refusal{Status: guard.StatusCancelled, Err: err}
	}
	return &guard.Refusal{Status: guard.StatusInternal, Err: err}
}

// record is what goes into the record of arguments that may not be JSON at all, or too large.
func record(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || len(raw) <= recordedArgs && json.Valid(raw) {
		return raw
	}
	text, err := encode(string(raw[:min(len(raw), recordedArgs)]))
	if err != nil {
		return nil
	}
	return text
}

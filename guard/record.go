package guard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

// What a record keeps of long texts, in bytes. A command of any length that the tools accept is kept whole.
const (
	maxCommand = 128 << 10
	maxArgs    = 16 << 10
	maxDetail  = 4 << 10
	maxReason  = 2 << 10
)

// Refused records a call that was refused before there was an action to judge: unknown tool, missing permission, bad
// arguments. A record that cannot be written is logged; the call is refused all the same.
func (g *Guard) Refused(ctx context.Context, origin session.Origin, tool string, args []byte, r *Refusal) {
	c := &call{id: newID(), origin: origin, action: Action{Tool: tool, Args: args}}
	if origin.Session != "" {
		c.role = g.o.Role(origin)
	}
	g.recordRefusal(ctx, c, r)
}

func (g *Guard) recordRefusal(ctx context.Context, c *call, r *Refusal) {
	rec := g.record(c, audit.Refusal)
	g.describe(c, &rec)
	rec.Verdict = c.decision.Verdict.String() // deny when it never came to a decision
	rec.Rule, rec.Status, rec.ExitCode = r.Rule, string(r.Status), r.ExitCode
	rec.Reason = g.bounded(reasonText(r.Reason, r.Args), maxReason)
	rec.Detail = r.Stderr
	if r.Err != nil {
		rec.Detail = strings.TrimPrefix(rec.Detail+"\n"+r.Err.Error(), "\n")
	}
	rec.Detail = c.history() + rec.Detail
	rec.Detail = g.bounded(rec.Detail, maxDetail)
	if err := g.append(context.WithoutCancel(ctx), rec); err != nil {
		g.log.ErrorContext(ctx, "a refusal could not be recorded", "call", c.id, "tool", c.action.Tool, "status", r.Status, "err", err)
	}
}

// recordIntent commits what is about to happen. A refusal means: do not act.
func (g *Guard) recordIntent(ctx context.Context, c *call) *Refusal {
	rec := g.record(c, audit.Intent)
	g.describe(c, &rec)
	rec.Verdict, rec.Rule = c.decision.Verdict.String(), c.decision.Rule
	rec.Reason = g.bounded(reasonText(c.decision.Reason, c.decision.Args), maxReason)
	rec.Detail = g.bounded(c.history(), maxCommand)
	err := g.append(ctx, rec)
	if err == nil {
		return nil
	}
	if r := cancelled(ctx); r != nil {
		g.recordRefusal(ctx, c, r)
		return r
	}
	g.log.ErrorContext(ctx, "an intent could not be recorded, so nothing was run", "call", c.id, "tool", c.action.Tool, "err", err)
	return &Refusal{Status: StatusInternal, Reason: "guard.intent_failed", Args: []any{err}, Err: err}
}

// recordOutcome also works for a call whose context is done: that it was cancelled is its outcome.
func (g *Guard) recordOutcome(ctx context.Context, c *call, out *Outcome) {
	rec := g.record(c, audit.Outcome)
	rec.Tool, rec.Status, rec.ExitCode = c.action.Tool, string(out.Status), out.ExitCode
	rec.Detail = g.bounded(out.Detail, maxDetail)
	if err := g.append(context.WithoutCancel(ctx), rec); err != nil {
		g.log.ErrorContext(ctx, "an outcome could not be recorded", "call", c.id, "tool", c.action.Tool, "status", out.Status, "err", err)
		out.Unrecorded = &Unrecorded{Err: err}
		out.Detail = strings.TrimPrefix(out.Detail+"\n"+out.Unrecorded.Error(), "\n")
	}
}

// Unrecorded says that an effect ran and its outcome record could not be written.
type Unrecorded struct{ Err error }

func (u *Unrecorded) Error() string { return "guard: the outcome was not recorded: " + u.Err.Error() }

// Unwrap returns the cause.
func (u *Unrecorded) Unwrap() error { return u.Err }

// TextID returns the message id and its values for the texts catalog.
func (u *Unrecorded) TextID() (string, []any) { return "guard.outcome_unrecorded", []any{u.Err} }

func (g *Guard) append(ctx context.Context, r audit.Record) error {
	ctx, stop := context.WithTimeout(ctx, recordWait)
	defer stop()
	_, err := g.o.Sink.Append(ctx, r)
	return err
}

func (g *Guard) record(c *call, kind audit.Kind) audit.Record {
	o := c.origin
	return audit.Record{
		Kind: kind, Call: c.id, Instance: g.o.Instance,
		Caller: callerID(o.Caller), Group: o.Caller.GroupKey(), Role: c.role.String(),
		Session: o.Session, Parent: o.Parent, Channel: o.Channel,
	}
}

// describe adds what the action is.
func (g *Guard) describe(c *call, r *audit.Record) {
	r.Tool = c.action.Tool
	for _, e := range c.action.Effects {
		r.Effects = append(r.Effects, string(e))
	}
	r.Command = g.bounded(c.action.Command, maxCommand)
	r.Cwd = g.o.Redact(c.action.Cwd)
	r.Args = boundedArgs(redactArgs(g.o.Redact, c.action.Args))
}

func callerID(c roles.Caller) string {
	if c.Platform == "" {
		return ""
	}
	return c.Platform + ":" + c.UserID
}

// reasonText is a message id with its values, as a record keeps it: records outlive the wording of messages.
func reasonText(id string, args []any) string {
	var b strings.Builder
	b.WriteString(id)
	for _, a := range args {
		fmt.Fprintf(&b, " %q", fmt.Sprint(a))
	}
	return b.String()
}

// bounded filters the text before it is cut: a secret that the cut goes through would not be recognised.
func (g *Guard) bounded(s string, limit int) string {
	s = g.o.Redact(s)
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s ... [%d bytes]", s[:cut], len(s))
}

// redactArgs filters every string of a JSON text as its reader sees it, then the text as a whole, for secrets that
// are only recognised by the key before them.
func redactArgs(redact func(string) string, args []byte) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	// Without an escape, what is written is what is read.
	if bytes.IndexByte(args, '\\') >= 0 && json.Valid(args) {
		dec := json.NewDecoder(bytes.NewReader(args))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err == nil {
			if out, err := json.Marshal(redactValue(redact, v)); err == nil {
				args = out
			}
		}
	}
	return json.RawMessage(redact(string(args)))
}

func redactValue(redact func(string) string, v any) any {
	switch v := v.(type) {
	case string:
		return redact(v)
	case []any:
		for i := range v {
			v[i] = redactValue(redact, v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[redact(k)] = redactValue(redact, item)
		}
		return out
	}
	return v
}

// boundedArgs replaces arguments that are too long to keep by their beginning, length and hash.
func boundedArgs(args json.RawMessage) json.RawMessage {
	if len(args) <= maxArgs {
		return args
	}
	sum := sha256.Sum256(args)
	out, err := json.Marshal(map[string]any{
		"cut": strings.ToValidUTF8(string(args[:maxArgs/4]), ""), "bytes": len(args), "sha256": hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return nil // cannot happen: strings and a number always marshal
	}
	return out
}

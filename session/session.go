package session

import (
	"context"

	"github.com/maishell/maishell/roles"
)

// Origin says where a call comes from. It is made by the entrance and is the only source of who asks:
// arguments never carry identity.
type Origin struct {
	Caller  roles.Caller
	Session string // one per conversation; never empty
	Parent  string // the session this one was opened by (sub-agents), else empty
	Channel string // "terminal", "exec", "onebot", ...
	// Ceiling lowers the caller's resolved role for this origin (`--as guest`, sub-agents, owners of events).
	// None: no ceiling. It can never raise a role.
	Ceiling roles.Role
}

type originKey struct{}

// WithOrigin puts the origin into the context. Only the tool pipeline does this (an import test holds it).
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// FromContext returns the origin of the call that ctx belongs to. Whoever needs one refuses without it.
func FromContext(ctx context.Context) (Origin, bool) {
	o, ok := ctx.Value(originKey{}).(Origin)
	return o, ok && o.Session != ""
}

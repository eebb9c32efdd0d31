package tools

import (
	"context"
	"slices"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

// View is the registry as one origin sees it. It is safe for concurrent use and holds no state: the caller's role is
// resolved at every call.
type View struct {
	registry *Registry
	origin   session.Origin
	narrow   bool
	keep     func(name string) bool // nil: every name
}

// List gives the tools that the origin may call now, in order of registration.
func (v *View) List() []Tool {
	role := v.registry.role(v.origin)
	var out []Tool
	for _, t := range v.registry.all() {
		if v.check(t, role) == nil {
			out = append(out, t)
		}
	}
	return out
}

// Find gives the tool of a name if the origin may call it now. Its error is a *Fault: not found, or permission denied.
func (v *View) Find(name string) (Tool, error) {
	tools := v.registry.all()
	i := index(tools, name)
	if i < 0 {
		return Tool{}, Invalid("tools.not_found", Clip(name, 80))
	}
	return tools[i], v.allowed(tools[i])
}

// allowed checks the role of this moment.
func (v *View) allowed(t Tool) error {
	return v.check(t, v.registry.role(v.origin))
}

func (v *View) check(t Tool, role roles.Role) error {
	if !role.AtLeast(t.Role) {
		return Denied("tools.denied", t.Name, t.Role, role)
	}
	if v.narrow && dangerous(t.effects()) || v.keep != nil && !v.keep(t.Name) {
		return Denied("tools.not_in_view", t.Name)
	}
	return nil
}

// dangerous tells whether the effects are beyond a narrow view.
func dangerous(effects []guard.Effect) bool {
	return slices.ContainsFunc(effects, func(e guard.Effect) bool {
		return e == guard.Execute || e == guard.Destroy || e == guard.Privilege
	})
}

type viewKey struct{}

// FromContext returns the view by which the tool that ctx belongs to was called.
func FromContext(ctx context.Context) (*View, bool) {
	v, ok := ctx.Value(viewKey{}).(*View)
	return v, ok
}

package tools

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
)

// Door is *guard.Guard as the pipeline needs it.
type Door interface {
	// Act judges, records and performs an action, which hooks may rewrite before. Its error is a *guard.Refusal when
	// the effect did not run.
	Act(ctx context.Context, a guard.Action, run func(context.Context, guard.Action) (guard.Outcome, error)) (guard.Outcome, error)
	// Refused records a call that did not get as far as Act.
	Refused(ctx context.Context, o session.Origin, tool string, args []byte, r *guard.Refusal)
}

// Options are what a registry works with.
type Options struct {
	Guard  Door                            // nil: no tool runs
	Role   func(session.Origin) roles.Role // the caller's role now; nil: nobody has one
	Texts  func() *texts.Catalog           // nil: message ids instead of sentences
	Logger *slog.Logger                    // nil: discard
}

// Registry holds the tools. It is safe for concurrent use; a view sees changes at its next call.
type Registry struct {
	opts Options

	mu    sync.RWMutex
	tools []Tool // in order of registration
}

// NewRegistry makes an empty registry.
func NewRegistry(o Options) *Registry {
	if o.Role == nil {
		o.Role = func(session.Origin) roles.Role { return roles.None }
	}
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Registry{opts: o}
}

// Add registers a tool made by Define. One of the same name is replaced and keeps its place.
func (r *Registry) Add(t Tool) error {
	if !nameForm.MatchString(t.Name) || t.run == nil {
		return fmt.Errorf("tool %q was not made by Define", t.Name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Views iterate over the slice outside the lock: it is replaced, not changed.
	tools := slices.Clone(r.tools)
	if i := index(tools, t.Name); i >= 0 {
		tools[i] = t
	} else {
		tools = append(tools, t)
	}
	r.tools = tools
	return nil
}

// Remove takes a tool out. A name that is not there is no error.
func (r *Registry) Remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools = slices.DeleteFunc(slices.Clone(r.tools), func(t Tool) bool { return t.Name == name })
}

// all are the tools as they are now; the slice must not be changed.
func (r *Registry) all() []Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.tools
}

func index(tools []Tool, name string) int {
	return slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
}

// role is the caller's role now, under the origin's ceiling.
func (r *Registry) role(o session.Origin) roles.Role {
	return session.Effective(o, func(roles.Caller) roles.Role { return r.opts.Role(o) })
}

// ViewOption narrows a view.
type ViewOption func(*View)

// Narrow leaves out every tool, and refuses every action, that may execute, destroy or raise privilege, whoever
// registered it. Sub-agents get such a view.
func Narrow() ViewOption {
	return func(v *View) { v.narrow = true }
}

// Keep leaves out every tool whose name keep does not take, when it is listed and when it is called.
func Keep(keep func(name string) bool) ViewOption {
	return func(v *View) { v.keep = keep }
}

// View makes what one origin sees of the registry.
func (r *Registry) View(o session.Origin, opts ...ViewOption) *View {
	v := &View{registry: r, origin: o}
	for _, opt := range opts {
		opt(v)
	}
	return v
}

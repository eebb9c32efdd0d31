package scripts

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/policy"
	"github.com/maishell/maishell/redact"
	"github.com/maishell/maishell/scripts/sandbox"
)

// The kinds of what a script defines.
const (
	kindPreExec  = "pre_exec"
	kindPostExec = "post_exec"
	kindPreTool  = "pre_tool"
	kindPostTool = "post_tool"
	kindTest     = "test"
)

// Set is all scripts that are in use. It is immutable, safe for concurrent use and may be dropped at any time.
type Set struct {
	scripts     []*script
	library     map[string]*lua.FunctionProto
	libraryHash string
	dialect     func(string) policy.Dialect
	location    *time.Location
	now         func() time.Time
	timeout     time.Duration
	kv          *KV
	log         *slog.Logger
	regexps     *regexps
	machines    sync.Pool
	// turns bounds how many scripts run at once: they only use the processor, and each may hold its memory budget.
	turns        chan struct{}
	trustShipped bool
}

// script is one compiled file.
type script struct {
	name    string
	shipped bool
	proto   *lua.FunctionProto
	tests   *lua.FunctionProto // nil: none
	hooks   []Hook
	masks   []redact.Pattern
	hash    string // of the texts of script and tests
	passed  int    // tests
}

// Hook is one hook of a script.
type Hook struct {
	Kind  string `json:"kind"` // pre_exec, post_exec, pre_tool or post_tool
	Name  string `json:"name"`
	Where string `json:"where"` // FILE:LINE
}

// Info describes a script.
type Info struct {
	Name    string   `json:"name"`
	Shipped bool     `json:"shipped"`
	Hooks   []Hook   `json:"hooks"`
	Masks   []string `json:"masks"`
	Tests   int      `json:"tests"` // all of them pass
	Hash    string   `json:"hash"`  // of the text, tests included
}

var _ guard.Hooks = (*Set)(nil)

func newSet(o Options) *Set {
	s := &Set{
		library: map[string]*lua.FunctionProto{}, dialect: o.Dialect, location: o.Location, now: o.Now, timeout: o.Timeout,
		kv: o.KV, log: o.Logger, trustShipped: o.TrustShipped, regexps: newRegexps(), turns: make(chan struct{}, min(4, max(2, runtime.GOMAXPROCS(0)))),
	}
	if s.dialect == nil {
		s.dialect = policy.ShellDialect
	}
	if s.location == nil {
		s.location = time.Local
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	if s.kv == nil {
		s.kv = NewKV()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.machines.New = func() any { return newMachine() }
	return s
}

// Name is what records call the set as a whole.
func (s *Set) Name() string { return "scripts" }

// Scripts describes the scripts in their order.
func (s *Set) Scripts() []Info {
	out := make([]Info, 0, len(s.scripts))
	for _, sc := range s.scripts {
		i := Info{Name: sc.name, Shipped: sc.shipped, Hooks: append([]Hook{}, sc.hooks...), Masks: []string{}, Tests: sc.passed, Hash: sc.hash}
		for _, m := range sc.masks {
			i.Masks = append(i.Masks, m.Name)
		}
		out = append(out, i)
	}
	return out
}

// Library is a hash of the files of lib.
func (s *Set) Library() string { return s.libraryHash }

// Masks are the patterns that the secret filter hides beside its own.
func (s *Set) Masks() []redact.Pattern {
	var out []redact.Pattern
	for _, sc := range s.scripts {
		out = append(out, sc.masks...)
	}
	return out
}

func (sc *script) has(kind string) bool {
	for _, h := range sc.hooks {
		if h.Kind == kind {
			return true
		}
	}
	return false
}

// environment is what scripts see beside the call. Tests have their own.
type environment struct {
	now   func() time.Time
	kv    *KV
	limit time.Duration // for one script at one call
}

func (s *Set) environment() environment { return environment{now: s.now, kv: s.kv, limit: s.timeout} }

func preKind(a guard.Action) string {
	if a.Command != "" {
		return kindPreExec
	}
	return kindPreTool
}

func postKind(a guard.Action) string {
	if a.Command != "" {
		return kindPostExec
	}
	return kindPostTool
}

// Decide asks every hook for the action. The first deny or rewrite ends it.
func (s *Set) Decide(ctx context.Context, a guard.Action) (guard.Decision, error) {
	return s.decide(ctx, a, s.scripts, s.environment()), nil
}

func (s *Set) decide(ctx context.Context, a guard.Action, list []*script, env environment) guard.Decision {
	merged := guard.Decision{Verdict: guard.Allow}
	kind := preKind(a)
	view := newView(s, ctx, a)
	err := s.each(ctx, list, kind, view, env, func(r *run, d def) (bool, error) {
		v, err := r.m.Call(d.fn, r.callTable())
		if err != nil {
			return false, err
		}
		one, err := r.answer(d, v)
		if err != nil {
			return false, err
		}
		if one.Rewrite != nil || one.Verdict < merged.Verdict {
			merged = one
		}
		return merged.Verdict != guard.Deny && merged.Rewrite == nil, nil
	})
	if err != nil {
		return guard.Decision{Verdict: guard.Deny, Rule: err.HookRule(), Reason: "lua.failed", Args: []any{err.Hook, err.Msg}}
	}
	return merged
}

// Sees reports whether any script wants to see the results of such an action.
func (s *Set) Sees(a guard.Action) bool {
	for _, sc := range s.scripts {
		if sc.has(postKind(a)) {
			return true
		}
	}
	return false
}

// After shows a result to every hook. Its error is a *HookError: the result is to be withheld.
func (s *Set) After(ctx context.Context, a guard.Action, shown guard.Shown) (guard.Shown, error) {
	return s.after(ctx, a, shown, s.scripts, s.environment())
}

func (s *Set) after(ctx context.Context, a guard.Action, shown guard.Shown, list []*script, env environment) (guard.Shown, error) {
	view := newView(s, ctx, a)
	view.size += len(shown.Stdout) + len(shown.Stderr) + len(shown.Text) + len(shown.Note)
	err := s.each(ctx, list, postKind(a), view, env, func(r *run, d def) (bool, error) {
		t := r.resultTable(shown, a.Command != "")
		v, err := r.m.Call(d.fn, r.callTable(), t)
		if err != nil {
			return false, err
		}
		shown, err = readResult(d, t, v, shown, a.Command != "")
		return true, err
	})
	if err != nil {
		return guard.Shown{}, err
	}
	return shown, nil
}

// each runs the hooks of a kind, script by script, until one says to stop.
func (s *Set) each(ctx context.Context, list []*script, kind string, view *view, env environment, fn func(*run, def) (bool, error)) *HookError {
	var m *machine
	for _, sc := range list {
		if !sc.has(kind) {
			continue
		}
		if m == nil {
			select {
			case s.turns <- struct{}{}:
				defer func() { <-s.turns }()
			case <-ctx.Done():
				return &HookError{Hook: sc.name, Msg: sc.name + ".lua: " + ctx.Err().Error(), Err: ctx.Err()}
			}
			m = s.machines.Get().(*machine)
			defer func() { s.putBack(m) }()
		}
		if goOn, err := s.hooks(ctx, m, sc, kind, view, env, fn); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// putBack keeps a machine for another call, unless something went wrong in it.
func (s *Set) putBack(m *machine) {
	if m.Failed() {
		return
	}
	m.End()
	s.machines.Put(m)
}

// hooks runs those of one script: its chunk anew, then every hook of the kind, within one budget.
func (s *Set) hooks(ctx context.Context, m *machine, sc *script, kind string, view *view, env environment, fn func(*run, def) (bool, error)) (bool, *HookError) {
	r := &run{set: s, m: m, script: sc, view: view, env: env}
	if err := r.open(ctx, env.limit, view.size); err != nil {
		return false, &HookError{Hook: sc.name, Msg: err.Error(), Err: cause(err)}
	}
	for _, d := range r.defs {
		if d.kind != kind {
			continue
		}
		r.commands = nil // a hook may have changed its own
		goOn, err := fn(r, d)
		if err != nil {
			m.Spoil()
			s.log.WarnContext(ctx, "a hook failed", "hook", d.name, "err", err)
			return false, &HookError{Hook: d.name, Msg: err.Error(), Err: cause(err)}
		}
		if !goOn {
			return false, nil
		}
	}
	return true, nil
}

func cause(err error) error {
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		return e.Err
	}
	return nil
}

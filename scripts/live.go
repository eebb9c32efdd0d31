package scripts

import (
	"context"

	"github.com/maishell/maishell/guard"
)

// Current gives the set in use for guard.Options.Hooks: asked once for each call, so that a call keeps its set.
func Current(get func() *Set) func() guard.Hooks {
	return func() guard.Hooks {
		if s := get(); s != nil {
			return s
		}
		return nil
	}
}

// Trial gives hooks for guard.Try: those of the set with a mai.kv that is empty and kept by nobody.
func (s *Set) Trial() guard.Hooks {
	return trial{Set: s, env: environment{now: s.now, kv: NewKV(), limit: s.timeout}}
}

type trial struct {
	*Set
	env environment
}

func (t trial) Decide(ctx context.Context, a guard.Action) (guard.Decision, error) {
	return t.decide(ctx, a, t.scripts, t.env), nil
}

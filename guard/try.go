package guard

import "context"

// Trial is a door without a person, a record or an effect.
type Trial struct {
	Deciders []Decider
	Hooks    Hooks // nil: none
	Asker    Asker
}

// Step is one rewrite of a trial.
type Step struct {
	Rule  string
	After Action
}

// Try decides an action as a door would, with the rewrites that led there. Nothing is asked, recorded or run. The error
// is that of a cancelled context.
func Try(ctx context.Context, t Trial, a Action) (Decision, []Step, error) {
	g := &Guard{o: Options{Deciders: t.Deciders}}
	if t.Hooks != nil {
		g.o.Hooks = func() Hooks { return t.Hooks }
	}
	c := &call{action: a.normal(), as: &t.Asker}
	d := g.judge(ctx, c)
	var steps []Step
	for i, r := range c.rewrites {
		after := c.action
		if i+1 < len(c.rewrites) {
			after = c.rewrites[i+1].Before
		}
		steps = append(steps, Step{Rule: r.Rule, After: after})
	}
	return d, steps, ctx.Err()
}

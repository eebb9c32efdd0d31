package guard

import (
	"context"
	"fmt"
)

// decide asks every decider and returns the strictest decision. Of equally strict ones the first with a rule counts.
// Nobody to ask is a deny.
func decide(ctx context.Context, deciders []Decider, a Action) Decision {
	if len(deciders) == 0 {
		return Decision{Verdict: Deny}
	}
	merged := one(ctx, deciders[0], a)
	for _, d := range deciders[1:] {
		merged = stricter(merged, one(ctx, d, a))
	}
	return merged
}

// stricter returns b where it is stricter than a, or as strict and the only one of the two with a rule.
func stricter(a, b Decision) Decision {
	rewrite := a.Rewrite
	if rewrite == nil {
		rewrite = b.Rewrite
	}
	if b.Verdict < a.Verdict || b.Verdict == a.Verdict && a.Rule == "" && b.Rule != "" {
		a = b
	}
	a.Rewrite = rewrite
	return a
}

// one asks one decider. An error, a panic and a verdict that does not exist all deny.
func one(ctx context.Context, d Decider, a Action) (out Decision) {
	name := deciderName(d)
	defer func() {
		if v := recover(); v != nil {
			out = failed(name, fmt.Sprint("panic: ", v))
		}
	}()
	out, err := d.Decide(ctx, a)
	if err != nil {
		return failed(name, err.Error())
	}
	switch out.Verdict {
	case Deny, Confirm, Allow:
		return out
	}
	return failed(name, fmt.Sprint("verdict ", int(out.Verdict)))
}

func failed(name, why string) Decision {
	return Decision{Verdict: Deny, Rule: name, Reason: "guard.decider_failed", Args: []any{name, why}}
}

// deciderName is what records and messages call a decider that failed: its own name, else its type.
func deciderName(d Decider) string {
	if n, ok := d.(interface{ Name() string }); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", d)
}

package guard

import (
	"context"

	"github.com/maishell/maishell/guard/paths"
)

// over reports whether this decision has gone on for long enough: the caller has left, or what is to be judged names so
// much that judging it would hold everything up. What was not judged is denied.
func (v *view) over(ctx context.Context) (Decision, bool) {
	d := Decision{Verdict: Deny, Rule: RuleOwnFiles, Reason: "guard.too_much"}
	return d, ctx.Err() != nil || v.w.Exhausted()
}

// ofKernel reports a path into the files that the kernel makes up, by any of its readings.
func (v *view) ofKernel(path string) bool {
	for _, p := range v.places(path) {
		for _, dir := range kernelDirs() {
			if paths.Within(dir, p.Path) {
				return true
			}
		}
	}
	return false
}

package tools

import (
	"context"

	"github.com/maishell/maishell/guard"
)

// The statuses that tools outside this folder give, which must not know the guard.
const (
	StatusTimeout          = guard.StatusTimeout
	StatusCancelled        = guard.StatusCancelled
	StatusPermissionDenied = guard.StatusPermissionDenied
	StatusInternal         = guard.StatusInternal
)

// DefineReading is Define for a tool that only reads by itself: its effects are set, and there is nothing to plan.
func DefineReading[A any](t Tool, run func(ctx context.Context, args A) (Result, error)) (Tool, error) {
	t.Effects = []guard.Effect{guard.Read}
	return Define(t, nil, func(ctx context.Context, args A, _ guard.Action) (Result, error) { return run(ctx, args) })
}

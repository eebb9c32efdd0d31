package llm

import (
	"context"
	"log/slog"
	"time"
)

// Spender counts tokens by day ("2006-01-02") and returns the day's total afterwards.
type Spender interface {
	Spend(ctx context.Context, day string, tokens int) (total int64, err error)
}

// MeterOptions are what a meter works with. Spender is required.
type MeterOptions struct {
	Spender Spender
	// Limit is the most tokens of one day; nil or below 1: no limit.
	Limit  func() int
	Now    func() time.Time // whose zone says when a day ends; nil: time.Now
	Logger *slog.Logger     // nil: discard
}

// Metered is a model whose tokens are counted, and that does not answer any more when the day's are spent.
type Metered struct {
	model Model
	opts  MeterOptions
}

// Meter puts a meter before a model.
func Meter(m Model, o MeterOptions) *Metered {
	if o.Limit == nil {
		o.Limit = func() int { return 0 }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Metered{model: m, opts: o}
}

// Name is the model's.
func (m *Metered) Name() string { return m.model.Name() }

// Complete asks the model unless the day's tokens are spent. An answer is counted whole, so that the last one of a day
// may go beyond the limit. One that broke off, or was cancelled, is counted by estimate: the service has read the
// conversation and charges for it. What cannot be counted is not asked for while there is a limit.
func (m *Metered) Complete(ctx context.Context, r Request, onText func(string)) (Message, error) {
	day, limit := m.opts.Now().Format(time.DateOnly), m.opts.Limit()
	if limit > 0 {
		spent, err := m.opts.Spender.Spend(ctx, day, 0)
		if err != nil {
			return Message{}, err
		}
		if spent >= int64(limit) {
			return Message{}, &Error{Code: "llm.day_limit", Args: []any{limit}}
		}
	}
	if ctx.Err() != nil {
		return Message{}, ctx.Err()
	}
	shown, show := 0, onText // tokens of an answer that may not come to its end
	if onText != nil {       // a model that shows nothing may try again, so that nobody is handed in for nobody
		show = func(piece string) {
			shown += EstimateText(piece)
			onText(piece)
		}
	}
	answer, err := m.model.Complete(ctx, r, show)
	tokens := answer.Usage.Total()
	switch {
	case tokens > 0:
	case err == nil:
		tokens = Estimate(r.Messages...) + Estimate(answer)
	case shown > 0 || ctx.Err() != nil:
		tokens = Estimate(r.Messages...) + shown
	}
	if tokens > 0 {
		// The answer is there whatever becomes of the count, also when the turn was cancelled meanwhile.
		if _, bad := m.opts.Spender.Spend(context.WithoutCancel(ctx), day, tokens); bad != nil {
			m.opts.Logger.WarnContext(ctx, "tokens not counted", "tokens", tokens, "err", bad)
		}
	}
	return answer, err
}

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
// may go beyond the limit. What cannot be counted is not asked for while there is a limit.
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
	answer, err := m.model.Complete(ctx, r, onText)
	tokens := answer.Usage.Total()
	if err == nil && tokens == 0 {
		tokens = Estimate(r.Messages...) + Estimate(answer)
	}
	if tokens > 0 {
		// The answer is there whatever becomes of the count, also when the turn was cancelled meanwhile.
		if _, bad := m.opts.Spender.Spend(context.WithoutCancel(ctx), day, tokens); bad != nil {
			m.opts.Logger.WarnContext(ctx, "tokens not counted", "tokens", tokens, "err", bad)
		}
	}
	return answer, err
}

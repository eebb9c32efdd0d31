package llm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// fixed is a model that gives the same answer every time.
type fixed struct {
	answer Message
	err    error
	asked  *int
}

func (fixed) Name() string { return "fixed" }

func (f fixed) Complete(context.Context, Request, func(string)) (Message, error) {
	*f.asked++
	return f.answer, f.err
}

// days counts in memory.
type days struct {
	spent map[string]int64
	err   error
}

func (d *days) Spend(_ context.Context, day string, tokens int) (int64, error) {
	d.spent[day] += int64(tokens)
	return d.spent[day], d.err
}

func TestMeter(t *testing.T) {
	t.Parallel()
	asked, limit := 0, 25
	now := time.Date(2026, 1, 2, 23, 59, 0, 0, time.UTC)
	count := &days{spent: map[string]int64{}}
	options := MeterOptions{Spender: count, Limit: func() int { return limit }, Now: func() time.Time { return now }}
	m := Meter(fixed{answer: Message{Usage: Usage{Prompt: 8, Completion: 2}}, asked: &asked}, options)
	var spent *Error
	for i := range 4 { // the third goes beyond the limit, the fourth is not asked
		_, err := m.Complete(t.Context(), Request{}, nil)
		if over := errors.As(err, &spent) && spent.Code == "llm.day_limit"; over != (i == 3) {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
	if asked != 3 || count.spent["2026-01-02"] != 30 {
		t.Errorf("asked %d times, spent %v", asked, count.spent)
	}
	now = now.Add(time.Minute)
	if _, err := m.Complete(t.Context(), Request{}, nil); err != nil || count.spent["2026-01-03"] != 10 {
		t.Errorf("the next day: %v %v", err, count.spent)
	}
	count.err = errors.New("disk full")
	if _, err := m.Complete(t.Context(), Request{}, nil); !errors.Is(err, count.err) || asked != 4 {
		t.Errorf("what cannot be counted is not asked under a limit: %v", err)
	}
	limit = 0
	if _, err := m.Complete(t.Context(), Request{}, nil); err != nil {
		t.Errorf("without a limit it is: %v", err)
	}
	count.spent = map[string]int64{}
	silent := Meter(fixed{answer: Message{Content: strings.Repeat("x", 400)}, asked: &asked}, options)
	if _, err := silent.Complete(t.Context(), Request{Messages: []Message{{Content: "世界"}}}, nil); err != nil || count.spent["2026-01-03"] != 110 {
		t.Errorf("estimated %v, want 6 + 104; %v", count.spent, err)
	}
	failing := Meter(fixed{err: errors.New("down"), asked: &asked}, options)
	if _, err := failing.Complete(t.Context(), Request{Messages: []Message{{Content: "hello"}}}, nil); err == nil || count.spent["2026-01-03"] != 110 {
		t.Errorf("a failure costs nothing: %v %v", count.spent, err)
	}
}

// broken shows a piece and then fails, as soon as ctx ends when it is told to wait.
type broken struct{ wait bool }

func (broken) Name() string { return "broken" }

func (b broken) Complete(ctx context.Context, _ Request, onText func(string)) (Message, error) {
	if onText != nil {
		onText("世界")
	}
	if b.wait {
		<-ctx.Done()
	}
	return Message{}, errors.New("broke off")
}

// What broke off was read by the service all the same.
func TestMeterCountsWhatBrokeOff(t *testing.T) {
	t.Parallel()
	r := Request{Messages: []Message{{Content: "hello"}}} // 6 tokens
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		wait   bool
		ctx    func() (context.Context, context.CancelFunc)
		onText func(string)
		want   int64
	}{
		"shown, then broken": {ctx: func() (context.Context, context.CancelFunc) { return t.Context(), func() {} }, onText: func(string) {}, want: 8},
		"nothing shown":      {ctx: func() (context.Context, context.CancelFunc) { return t.Context(), func() {} }},
		"cancelled": {wait: true, want: 6, ctx: func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), time.Millisecond)
		}},
		"never asked": {ctx: func() (context.Context, context.CancelFunc) { return gone, func() {} }},
	} {
		t.Run(name, func(t *testing.T) {
			count := &days{spent: map[string]int64{}}
			ctx, stop := c.ctx()
			defer stop()
			m := Meter(broken{wait: c.wait}, MeterOptions{Spender: count, Now: func() time.Time { return time.Time{} }})
			if _, err := m.Complete(ctx, r, c.onText); err == nil || count.spent["0001-01-01"] != c.want {
				t.Errorf("%v, spent %v, want %d", err, count.spent, c.want)
			}
		})
	}
}

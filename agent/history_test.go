package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/tools"
)

// kept is a history in memory.
type kept struct {
	mu    sync.Mutex
	steps map[string][]Step
	err   error
}

func (k *kept) LoadHistory(_ context.Context, s string) ([]Step, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.steps[s]), k.err
}

func (k *kept) AppendHistory(_ context.Context, s string, steps []Step) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.steps == nil {
		k.steps = map[string][]Step{}
	}
	k.steps[s] = append(k.steps[s], steps...)
	return k.err
}

func (k *kept) TrimHistory(_ context.Context, s string, keep int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.steps[s] = k.steps[s][max(0, len(k.steps[s])-keep):]
	return k.err
}

func TestHistoryIsKept(t *testing.T) {
	t.Parallel()
	k := &kept{}
	b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"x"}`}), says("one"))
	b.opts.History = k
	if err := b.Handle(t.Context(), message("first"), b.out); err != nil {
		t.Fatal(err)
	}
	later := newBench(t, says("two"))
	later.opts.History = k
	if err := later.Handle(t.Context(), message("second"), later.out); err != nil {
		t.Fatal(err)
	}
	got := later.history()
	if !strings.HasPrefix(got, "user first\nassistant [a echo") || !strings.HasSuffix(got, "</data>\nassistant one\nuser second") {
		t.Errorf("history:\n%s", got)
	}
	broken := newBench(t, says("still"))
	broken.opts.History = &kept{err: errors.New("disk full")}
	if err := broken.Handle(t.Context(), message("x"), broken.out); err != nil || broken.out.replies[0] != "still" {
		t.Errorf("%v %q", err, broken.out.replies)
	}
}

// A call that a cancelled turn did not come to is kept as that, not as one whose end nobody knows.
func TestHistoryOfACancelledTurn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	k := &kept{}
	b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "boom"}, llm.ToolCall{ID: "b", Name: "boom"}))
	b.opts.History, b.limits.ParallelTools = k, 1
	b.boom = func(context.Context) (tools.Result, error) {
		cancel()
		return tools.Result{}, nil
	}
	if err := b.Handle(ctx, message("go"), b.out); err != nil {
		t.Fatal(err)
	}
	later := newBench(t, says("two"))
	later.opts.History = k
	if err := later.Handle(t.Context(), message("second"), later.out); err != nil {
		t.Fatal(err)
	}
	if got := later.history(); strings.Count(got, "tool(") != 2 || !strings.Contains(got, "tool(b) <data>\n"+rounds.Cancelled) || strings.Contains(got, "interrupted") {
		t.Errorf("history:\n%s", got)
	}
}

// TestHistoryAfterACrash takes away what a killed process had not recorded yet, message by message.
func TestHistoryAfterACrash(t *testing.T) {
	t.Parallel()
	k := &kept{}
	b := newBench(t, says("zero"), calls(llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"x"}`}, llm.ToolCall{ID: "b", Name: "boom"}), says("one"))
	b.opts.History, b.limits.ParallelTools = k, 1
	for _, text := range []string{"before", "first"} {
		if err := b.Handle(t.Context(), message(text), b.out); err != nil {
			t.Fatal(err)
		}
	}
	all := k.steps["s1"]
	if len(all) != 7 {
		t.Fatalf("%d steps: %+v", len(all), all)
	}
	for n := 3; n < len(all); n++ {
		left := &kept{steps: map[string][]Step{"s1": slices.Clone(all[:n])}}
		for try := range 2 { // the second start sees what the first one made of it
			later := newBench(t, says("two"))
			later.opts.History = left
			if err := later.Handle(t.Context(), message("second"), later.out); err != nil {
				t.Fatal(err)
			}
			got := later.history()
			if !strings.HasPrefix(got, "user before\nassistant zero\nuser first\n") || !strings.Contains(got, "assistant "+later.say("agent.interrupted")+"\nuser second") {
				t.Errorf("after %d steps, start %d:\n%s", n, try+1, got)
			}
			if n > 3 && (strings.Count(got, "tool(") != 2 || strings.Count(got, "interrupted\"") != 6-n) {
				t.Errorf("after %d steps, start %d: calls and answers:\n%s", n, try+1, got)
			}
		}
	}
}

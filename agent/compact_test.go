package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/redact"
	"github.com/maishell/maishell/tools"
)

func TestOverflow(t *testing.T) {
	t.Parallel()
	tooLong := func(limit int, next step) step {
		return func(r llm.Request) (llm.Message, error) {
			if llm.Estimate(r.Messages...) > limit {
				return llm.Message{}, fmt.Errorf("wrapped: %w", llm.ErrContextTooLong)
			}
			return next(r)
		}
	}
	big := func(context.Context) (tools.Result, error) {
		return tools.Result{Body: map[string]any{"stdout": strings.Repeat("x", 40_000)}}, nil
	}
	b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "boom"}), tooLong(6000, says("never")), tooLong(6000, says("fits")), says("next"))
	b.boom = big
	if outcome, err := b.turn(t.Context(), message("the task"), b.out); outcome != Finished || err != nil || b.out.replies[0] != "fits" {
		t.Fatalf("%v %v %q", outcome, err, b.out.replies)
	}
	if got := b.history(); !strings.HasPrefix(got, "user the task\nassistant [a boom") || !strings.Contains(got, "left out to fit") {
		t.Errorf("history:\n%.300s", got)
	}
	if _, err := b.turn(t.Context(), message("again"), b.out); err != nil || llm.Estimate(b.model.request[3].Messages...) > 6000 {
		t.Errorf("what was learnt is forgotten: %v", err)
	}
	b = newBench(t, slices.Repeat([]step{tooLong(1, says("never"))}, 3)...)
	if outcome, err := b.turn(t.Context(), message("go"), b.out); outcome != Failed || err != nil || b.out.replies[0] != b.say("agent.too_long") || len(b.model.request) != 2 {
		t.Errorf("%v %v %q after %d calls", outcome, err, b.out.replies, len(b.model.request))
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t, slices.Repeat([]step{calls(llm.ToolCall{Name: "boom"})}, 4)...)
	b.model.steps = append(b.model.steps, says("done"))
	b.limits.ContextTokens = 3000
	b.boom = func(context.Context) (tools.Result, error) {
		return tools.Result{Body: map[string]any{"stdout": strings.Repeat("x", 6000)}}, nil
	}
	if err := b.Handle(t.Context(), message("the task"), b.out); err != nil {
		t.Fatal(err)
	}
	for i, r := range b.model.request {
		if n := llm.Estimate(r.Messages...); n > 3000 || r.Messages[1].Content != "the task" {
			t.Errorf("round %d: %d tokens, %+v", i+1, n, r.Messages[1])
		}
	}
}

// compacting is a conversation of turns with long replies in a small budget; each step beyond the replies is a summary.
func compacting(t *testing.T, k History, steps ...step) *bench {
	t.Helper()
	b := newBench(t, steps...)
	b.opts.History, b.limits.ContextTokens = k, 3000
	b.opts.Redact = filter(t)
	return b
}

func filter(t *testing.T) *redact.Set {
	t.Helper()
	set, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	long := says(strings.Repeat("x", 4000))
	k := &kept{}
	b := compacting(t, k, long, long, long, says(" the person counts; key sk-test-0123456789abcdefghij "), says("after"))
	for _, text := range []string{"one", "two", "three", "four"} {
		if err := b.Handle(t.Context(), message(text), b.out); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.model.request) != 5 || len(b.out.replies) != 4 {
		t.Fatalf("%d requests, %d replies", len(b.model.request), len(b.out.replies))
	}
	ask := b.model.request[3]
	if text := ask.Messages[1].Content; len(ask.Tools) != 0 || !strings.HasPrefix(text, "<data>\nuser: one\nassistant: xxx") || llm.Estimate(ask.Messages...) > 3000 {
		t.Errorf("the summary was asked for with %.200q", text)
	}
	later := compacting(t, k, says("new process"))
	if err := later.Handle(t.Context(), message("five"), later.out); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"same process": b.history(), "next process": later.history()} {
		if !strings.HasPrefix(got, "user "+b.say("agent.summary")+"\n<data>\nthe person counts; key") || strings.Contains(got, "user one") || strings.Contains(got, "0123456789") {
			t.Errorf("%s: %.300s", name, got)
		}
	}
	if !strings.Contains(later.history(), "user four\nassistant after\nuser five") {
		t.Errorf("%.300s", later.history())
	}
}

// Without a summary the conversation goes on, and says that something is missing.
func TestCompactionWithoutSummary(t *testing.T) {
	t.Parallel()
	long := says(strings.Repeat("x", 4000))
	for name, summary := range map[string]step{
		"empty": says(" "),
		"error": func(llm.Request) (llm.Message, error) { return llm.Message{}, errors.New("busy") },
	} {
		k := &kept{}
		b := compacting(t, k, long, long, long, summary, long, long, summary, says("end"))
		for i := range 6 {
			if err := b.Handle(t.Context(), message(fmt.Sprint(i)), b.out); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.history(); strings.Count(got, b.say("agent.left_out")) != 1 || b.out.replies[5] != "end" {
			t.Errorf("%s: %.300s", name, got)
		}
		if n := len(k.steps["s1"]); n > 9 {
			t.Errorf("%s: %d steps are kept", name, n)
		}
	}
}

// What a turn has to drop of its own rounds is summed up, once for several rounds, and the summary is not dropped with
// the next ones.
func TestCompactionWithinATurn(t *testing.T) {
	t.Parallel()
	const rounds = 20
	for name, c := range map[string]struct {
		summary step
		want    string // in the last request
		most    int    // summaries
	}{
		"summed up": {says("looked at much"), "looked at much", rounds / 2},
		"failed":    {func(llm.Request) (llm.Message, error) { return llm.Message{}, errors.New("busy") }, "(Earlier parts of this", rounds / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, slices.Repeat([]step{calls(llm.ToolCall{Name: "boom", Arguments: `{"x":"` + strings.Repeat("y", 9000) + `"}`})}, rounds)...)
			b.model.steps = append(b.model.steps, says("done"), says("and so on"))
			b.model.summary = c.summary
			b.limits = Limits{Rounds: rounds + 1, ContextTokens: 5000}
			b.boom = func(context.Context) (tools.Result, error) {
				return tools.Result{Body: map[string]any{"stdout": strings.Repeat("x", 6000)}}, nil
			}
			for _, text := range []string{"the task", "go on"} {
				if err := b.Handle(t.Context(), message(text), b.out); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.out.replies; !slices.Equal(got, []string{"done", "and so on"}) {
				t.Fatalf("replies %q", got)
			}
			for i, r := range b.model.request {
				if n := llm.Estimate(r.Messages...); n > 5000 {
					t.Errorf("round %d: %d tokens", i+1, n)
				}
				paired(t, r.Messages)
			}
			if n := len(b.model.summaries); n < 1 || n > c.most {
				t.Errorf("%d summaries in %d rounds", n, rounds)
			}
			for _, r := range b.model.summaries {
				if len(r.Tools) != 0 || llm.Estimate(r.Messages...) > 5000 {
					t.Errorf("a summary was asked for with %d tokens and %d tools", llm.Estimate(r.Messages...), len(r.Tools))
				}
			}
			last := b.model.request[rounds].Messages
			text := fmt.Sprint(last)
			if strings.Count(text, b.say("agent.summary")) != 1 || strings.Count(text, c.want) != 1 || last[1].Content != "the task" {
				t.Errorf("last request: %.600s", text)
			}
			if next := b.history(); strings.Count(next, c.want) != 1 || !strings.HasPrefix(next, "user the task") {
				t.Errorf("next turn: %.600s", next)
			}
		})
	}
}

// paired holds that every call is followed by its answer, and every answer has its call.
func paired(t *testing.T, messages []llm.Message) {
	t.Helper()
	for i := 0; i < len(messages); i++ {
		if messages[i].Role == "tool" {
			t.Errorf("an answer without a call at %d", i)
		}
		for _, c := range messages[i].ToolCalls {
			if i++; i >= len(messages) || messages[i].ToolCallID != c.ID {
				t.Errorf("call %s has no answer", c.ID)
				return
			}
		}
	}
}

// A conversation that was kept longer than it may be shown, as after a crash or with a smaller budget, is summed up before
// the model is asked, and only once.
func TestCompactionOfWhatWasKept(t *testing.T) {
	t.Parallel()
	k := &kept{}
	b := compacting(t, k, says(strings.Repeat("x", 4000)), says(strings.Repeat("y", 4000)), says(strings.Repeat("z", 4000)))
	b.limits.ContextTokens = 50_000
	for i := range 3 {
		if err := b.Handle(t.Context(), message(fmt.Sprint("old ", i)), b.out); err != nil {
			t.Fatal(err)
		}
	}
	for start := range 3 {
		later := compacting(t, k, says("new"))
		later.limits.ContextTokens = 2000
		later.model.summary = says("the gist")
		if err := later.Handle(t.Context(), message("now"), later.out); err != nil {
			t.Fatal(err)
		}
		if n := len(later.model.summaries); n != map[bool]int{true: 1}[start == 0] {
			t.Errorf("start %d: %d summaries", start, n)
		}
		if got := later.history(); !strings.HasPrefix(got, "user "+b.say("agent.summary")+"\n<data>\nthe gist") || !strings.HasSuffix(got, "user now") || strings.Contains(got, "xxx") {
			t.Errorf("start %d: %.300s", start, got)
		}
	}
}

// A summary that is cancelled with its turn takes nothing away: the next turn makes it.
func TestCompactionIsCancelled(t *testing.T) {
	t.Parallel()
	long := says(strings.Repeat("x", 4000))
	k := &kept{}
	b := compacting(t, k, long, long, long, says("after"))
	ctx, cancel := context.WithCancel(t.Context())
	b.model.summary = func(llm.Request) (llm.Message, error) {
		cancel() // the person stops the turn, whose reply is out
		return llm.Message{}, context.Canceled
	}
	for i := range 3 {
		if err := b.Handle(ctx, message(fmt.Sprint(i)), b.out); err != nil {
			t.Fatal(err)
		}
	}
	if ctx.Err() == nil || len(k.steps["s1"]) != 6 {
		t.Fatalf("%v, %d steps are kept", ctx.Err(), len(k.steps["s1"]))
	}
	b.model.summary = says("the gist")
	if err := b.Handle(t.Context(), message("3"), b.out); err != nil {
		t.Fatal(err)
	}
	if got := b.history(); !strings.Contains(got, "the gist") || strings.Contains(got, b.say("agent.left_out")) || len(b.model.summaries) != 2 {
		t.Errorf("%d summaries: %.300s", len(b.model.summaries), got)
	}
}

// A service that calls everything too long costs a reply each time, not what was said before.
func TestOverflowForEver(t *testing.T) {
	t.Parallel()
	k := &kept{}
	b := compacting(t, k, says("noted"))
	b.limits.ContextTokens = 50_000
	b.model.summary = says("never needed")
	tooLong := func(llm.Request) (llm.Message, error) { return llm.Message{}, llm.ErrContextTooLong }
	b.model.steps = append(b.model.steps, slices.Repeat([]step{tooLong}, 20)...)
	b.model.steps = append(b.model.steps, says("back"))
	for i := range 12 {
		if err := b.Handle(t.Context(), message(fmt.Sprint("message ", i)), b.out); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.history(); len(b.model.summaries) != 0 || !strings.HasPrefix(got, "user message 0\nassistant noted\n") || b.out.replies[11] != "back" || b.out.replies[10] != b.say("agent.too_long") {
		t.Errorf("%d summaries, replies %q: %.300s", len(b.model.summaries), b.out.replies, got)
	}
}

// A turn that is cancelled while its rounds are summed up ends as cancelled.
func TestCancelInASummary(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench(t, slices.Repeat([]step{calls(llm.ToolCall{Name: "boom"})}, 20)...)
	b.limits = Limits{Rounds: 20, ContextTokens: 4000}
	b.boom = func(context.Context) (tools.Result, error) {
		return tools.Result{Body: map[string]any{"stdout": strings.Repeat("x", 6000)}}, nil
	}
	b.model.summary = func(llm.Request) (llm.Message, error) {
		cancel()
		return llm.Message{}, context.Canceled
	}
	outcome, err := b.turn(ctx, message("go"), b.out)
	if outcome != Cancelled || err != nil || len(b.model.summaries) != 1 || !slices.Equal(b.out.replies, []string{"Cancelled."}) {
		t.Errorf("outcome %v, %v, %d summaries, replies %q", outcome, err, len(b.model.summaries), b.out.replies)
	}
}

// A summary counts as what it costs.
func TestSummaryIsCounted(t *testing.T) {
	t.Parallel()
	long := says(strings.Repeat("x", 4000))
	b := compacting(t, &kept{}, long, long, long)
	b.model.summary = func(llm.Request) (llm.Message, error) {
		return llm.Message{Content: "the gist", Usage: llm.Usage{Prompt: 70_000, Completion: 7}}, nil
	}
	spent := &days{}
	b.opts.Model = llm.Meter(b.model, llm.MeterOptions{Spender: spent})
	for i := range 3 {
		if err := b.Handle(t.Context(), message(fmt.Sprint(i)), b.out); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.model.summaries) != 1 || spent.total < 70_007 {
		t.Errorf("%d summaries, %d tokens", len(b.model.summaries), spent.total)
	}
}

// days counts in memory, whatever the day.
type days struct{ total int64 }

func (d *days) Spend(_ context.Context, _ string, tokens int) (int64, error) {
	d.total += int64(tokens)
	return d.total, nil
}

// What is kept of a conversation has passed the secret filter, masks of scripts included; the model sees what was said.
func TestHistoryHasNoSecrets(t *testing.T) {
	t.Parallel()
	const secret, masked = "sk-test-0123456789abcdefghijkl", "badge-4711-0815"
	k := &kept{}
	b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"` + secret + `"}`}, llm.ToolCall{ID: "b", Name: "boom"}), says("done "+secret))
	b.opts.History, b.opts.Redact = k, filter(t)
	masks, err := redact.New(redact.Options{Patterns: append(redact.Builtin(), redact.Pattern{Name: "badge", Prefixes: []string{"badge-"}, Expr: `badge-[0-9-]+`})})
	if err != nil {
		t.Fatal(err)
	}
	b.opts.Redact.Replace(masks)
	b.boom = func(context.Context) (tools.Result, error) {
		return tools.Result{Body: map[string]any{"stdout": "export KEY=" + secret + "\n" + masked}}, nil
	}
	if err := b.Handle(t.Context(), message("use "+secret+" and "+masked), b.out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.history(), "user use "+secret) {
		t.Errorf("the model saw %s", b.history())
	}
	if n := len(k.steps["s1"]); n != 5 {
		t.Errorf("%d steps are kept", n)
	}
	for _, s := range k.steps["s1"] {
		if strings.Contains(string(s.JSON), "0123456789") || strings.Contains(string(s.JSON), "4711") {
			t.Errorf("kept: %s", s.JSON)
		}
	}
}

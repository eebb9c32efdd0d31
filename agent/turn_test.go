package agent

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/tools"
)

func TestTurn(t *testing.T) {
	t.Parallel()
	ok := llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"hi"}`}
	for _, c := range []struct {
		name    string
		steps   []func(llm.Request) (llm.Message, error)
		outcome Outcome
		reply   string
		history []string // in what the model saw last, in this order
	}{
		{"answer at once", []func(llm.Request) (llm.Message, error){says("hello")}, Finished, "hello", []string{"user go"}},
		{"a tool call", []func(llm.Request) (llm.Message, error){calls(ok), says("done")}, Finished, "done",
			[]string{`assistant [a echo {"text":"hi"}]`, `tool(a) <data>` + "\n" + `{"success":true,"status":"ok","echo":"hi"}` + "\n</data>"}},
		{"several calls, with bad ids", []func(llm.Request) (llm.Message, error){
			calls(llm.ToolCall{Name: "echo", Arguments: `{"text":"1"}`}, llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"2"}`}, llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"3"}`}),
			says("done")}, Finished, "done",
			[]string{"[call-1 echo", "[a echo", "[call-3 echo", "tool(call-1) ", `"echo":"1"`, "tool(a) ", `"echo":"2"`, "tool(call-3) ", `"echo":"3"`}},
		{"malformed arguments", []func(llm.Request) (llm.Message, error){calls(llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":`}), says("sorry")}, Finished, "sorry",
			[]string{`[a echo {"text":]`, `tool(a) `, `"success":false,"status":"invalid_argument","error":"`}},
		{"arguments that are no object", []func(llm.Request) (llm.Message, error){calls(llm.ToolCall{ID: "a", Name: "echo", Arguments: `[1]`}), says("sorry")}, Finished, "sorry",
			[]string{`"status":"invalid_argument"`}},
		{"unknown argument", []func(llm.Request) (llm.Message, error){calls(llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"x","role":"admin"}`}), says("sorry")}, Finished, "sorry",
			[]string{`"status":"invalid_argument"`, "role"}},
		{"unknown tool", []func(llm.Request) (llm.Message, error){calls(llm.ToolCall{ID: "a", Name: "nope", Arguments: `{}`}), says("sorry")}, Finished, "sorry",
			[]string{`tool(a) `, `"success":false`, "nope"}},
		{"no arguments", []func(llm.Request) (llm.Message, error){calls(llm.ToolCall{ID: "a", Name: "boom"}), says("done")}, Finished, "done", []string{`"exit_code":3`}},
		{"empty answer", []func(llm.Request) (llm.Message, error){says(" \n")}, Finished, "Done.", nil},
		{"model error", []func(llm.Request) (llm.Message, error){calls(ok)}, Failed, "The model did not answer: the script has ended. Commands such as /run and /help still work.", nil},
		{"model panic", []func(llm.Request) (llm.Message, error){func(llm.Request) (llm.Message, error) { panic("ouch") }}, Failed, "ouch", nil},
		{"too many rounds", slices.Repeat([]func(llm.Request) (llm.Message, error){calls(ok)}, 5), MaxRounds, "at the limit of rounds (5)", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.steps...)
			outcome, err := b.turn(t.Context(), message("go"), b.out)
			if err != nil || outcome != c.outcome || len(b.out.replies) != 1 || !strings.Contains(b.out.replies[0], c.reply) {
				t.Fatalf("outcome %v, err %v, replies %q", outcome, err, b.out.replies)
			}
			rest := b.history()
			for _, want := range c.history {
				i := strings.Index(rest, want)
				if i < 0 {
					t.Fatalf("history lacks %q:\n%s", want, b.history())
				}
				rest = rest[i+len(want):]
			}
			if !strings.Contains(b.log.String(), "outcome="+string(c.outcome)) {
				t.Errorf("log: %s", b.log.String())
			}
		})
	}
}

func TestOnlyTheModelGetsCleanedText(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("ok"))
	if _, err := b.turn(t.Context(), message("a\xff\xfeb"), b.out); err != nil {
		t.Fatal(err)
	}
	if got := b.history(); !strings.Contains(got, "user a\uFFFDb") {
		t.Errorf("the model saw %q", got)
	}
}

func TestCancelBetweenCalls(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench(t, calls(
		llm.ToolCall{ID: "a", Name: "boom"}, llm.ToolCall{ID: "b", Name: "boom"}), says("again"))
	b.limits.ParallelTools = 1
	ran := 0
	b.boom = func(context.Context) (tools.Result, error) {
		ran++
		cancel()
		return tools.Result{}, nil
	}
	if outcome, err := b.turn(ctx, message("go"), b.out); outcome != Cancelled || err != nil || ran != 1 {
		t.Fatalf("outcome %v, err %v, ran %d", outcome, err, ran)
	}
	if len(b.out.replies) != 1 || b.out.replies[0] != "Cancelled." {
		t.Errorf("replies %q", b.out.replies)
	}
	if _, err := b.turn(t.Context(), message("next"), b.out); err != nil {
		t.Fatal(err)
	}
	got := b.history()
	for _, want := range []string{"tool(a) ", "tool(b) <data>\n" + rounds.Cancelled, "assistant Cancelled.\nuser next"} {
		if !strings.Contains(got, want) {
			t.Errorf("history lacks %q:\n%s", want, got)
		}
	}
}

func TestCancelInTheModel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench(t, func(llm.Request) (llm.Message, error) {
		cancel()
		return llm.Message{}, context.Canceled
	})
	if outcome, err := b.turn(ctx, message("go"), b.out); outcome != Cancelled || err != nil {
		t.Errorf("outcome %v, err %v", outcome, err)
	}
}

func TestModelTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.opts.Model = slowModel{}
		start := time.Now()
		outcome, err := b.turn(t.Context(), message("go"), b.out)
		if outcome != Failed || err != nil || time.Since(start) != 4*time.Minute || !strings.Contains(b.out.replies[0], "within 4m0s") {
			t.Errorf("outcome %v, err %v after %v, replies %q", outcome, err, time.Since(start), b.out.replies)
		}
	})
}

type slowModel struct{}

func (slowModel) Name() string { return "slow" }

func (slowModel) Complete(ctx context.Context, _ llm.Request, _ func(string)) (llm.Message, error) {
	<-ctx.Done()
	return llm.Message{}, ctx.Err()
}

// TestOrder holds that turns of one session follow each other while another session goes on.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.limits.OneAtATime = true
		var running, most int
		var mu sync.Mutex
		gate := make(chan struct{})
		step := func(r llm.Request) (llm.Message, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			<-gate
			mu.Lock()
			running--
			mu.Unlock()
			return llm.Message{Content: "re " + r.Messages[len(r.Messages)-1].Content}, nil
		}
		b.model.steps = slices.Repeat([]func(llm.Request) (llm.Message, error){step}, 4)
		var wg sync.WaitGroup
		handle := func(session, text string) {
			m := message(text)
			m.Origin.Session = session
			wg.Go(func() {
				if err := b.Handle(t.Context(), m, b.out); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		handle("a", "1")
		handle("a", "2")
		handle("a", "3")
		handle("b", "4")
		if err := b.Handle(t.Context(), message("/whoami"), b.out); err != nil || len(b.out.replies) != 1 {
			t.Errorf("a command waited for the turns: %v %q", err, b.out.replies)
		}
		if running != 2 {
			t.Errorf("%d turns run, want one per session", running)
		}
		close(gate)
		wg.Wait()
		var of []string
		for _, r := range b.out.replies[1:] {
			if r != "re 4" {
				of = append(of, r)
			}
		}
		if most != 2 || !slices.Equal(of, []string{"re 1", "re 2", "re 3"}) {
			t.Errorf("most %d, replies %q", most, b.out.replies)
		}
	})
}

func TestCancelWhileWaitingForATurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("never"))
	conv := b.sessions.get("s1")
	conv.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcome, err := b.turn(ctx, message("go"), b.out); outcome != Cancelled || err != nil || len(b.model.request) != 0 {
		t.Errorf("outcome %v, err %v", outcome, err)
	}
}

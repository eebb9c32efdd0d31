package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
)

type step = func(llm.Request) (llm.Message, error)

func withAsk(t *testing.T, b *bench) {
	t.Helper()
	ask, err := AskTool()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.opts.Tools.Add(ask); err != nil {
		t.Fatal(err)
	}
}

// talk is a screen that can stream, be asked, and say something while a turn runs.
type talk struct {
	screen
	pieces []string
	asked  chan string
	said   []string
	cannot bool
}

func (s *talk) Stream(_ context.Context, piece string) error {
	s.pieces = append(s.pieces, piece)
	return nil
}

func (s *talk) Prompt(_ context.Context, question string) error {
	if s.cannot {
		return channels.ErrCannotAsk
	}
	s.asked <- question
	return nil
}

func (s *talk) Interjected(plain func(string) bool) []string {
	var out []string
	for len(s.said) > 0 && plain(s.said[0]) {
		out = append(out, s.said[0])
		s.said = s.said[1:]
	}
	return out
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  llm.Message
		outcome Outcome
		reply   string
	}{
		"failed":    {llm.Message{Content: " FAILED: no such host"}, Failed, " FAILED: no such host"},
		"truncated": {llm.Message{Content: "half of", Truncated: true}, Finished, "half of\n(cut off: the model reached its length limit)"},
		"nothing":   {llm.Message{Truncated: true}, Finished, "(cut off: the model reached its length limit)"},
	} {
		b := newBench(t, func(llm.Request) (llm.Message, error) { return c.answer, nil })
		outcome, err := b.turn(t.Context(), message("go"), b.out)
		if err != nil || outcome != c.outcome || b.out.replies[0] != c.reply {
			t.Errorf("%s: %v %v %q", name, outcome, err, b.out.replies)
		}
	}
}

func TestCallsRunInParallel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var many []llm.ToolCall
		for i := range 10 {
			many = append(many, llm.ToolCall{ID: fmt.Sprint(i), Name: "boom"})
		}
		b := newBench(t, calls(many...), says("done"))
		b.boom = func(context.Context) (tools.Result, error) {
			time.Sleep(time.Second) // fake time
			return tools.Result{}, nil
		}
		begun := time.Now()
		if err := b.Handle(t.Context(), message("go"), b.out); err != nil || time.Since(begun) != 3*time.Second {
			t.Errorf("%v after %v, want 3 s for ten calls by fours", err, time.Since(begun))
		}
		for i, m := range b.model.request[1].Messages[3:] {
			if m.ToolCallID != fmt.Sprint(i) {
				t.Errorf("answer %d is of call %s", i, m.ToolCallID)
			}
		}
	})
}

func TestTextJoinsTheRunningTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "boom"}), says("both"), says("of the other"))
		gate := make(chan struct{})
		b.boom = func(context.Context) (tools.Result, error) {
			<-gate
			return tools.Result{}, nil
		}
		var wg sync.WaitGroup
		handle := func(m channels.Message) {
			wg.Go(func() {
				if err := b.Handle(t.Context(), m, b.out); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		handle(message("first"))
		handle(message("and this"))
		other := message("mine")
		other.Origin.Caller.UserID = "2"
		handle(other)
		close(gate)
		wg.Wait()
		second := b.model.request[1].Messages
		if last := second[len(second)-1]; last.Role != "user" || last.Content != "and this" {
			t.Errorf("the second round ends with %+v", last)
		}
		if !slices.Equal(b.out.replies, []string{"both", "of the other"}) || !slices.Contains(b.out.notices, b.say("agent.joined")) {
			t.Errorf("replies %q, notices %q", b.out.replies, b.out.notices)
		}
	})
}

func TestTextIsFetchedFromTheChannel(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "boom"}), says("done"))
	out := &talk{said: []string{"one", "two", "/status", "three"}}
	if err := b.Handle(t.Context(), message("go"), out); err != nil {
		t.Fatal(err)
	}
	if got := b.history(); !strings.HasSuffix(got, "user one\nuser two") || !slices.Equal(out.said, []string{"/status", "three"}) {
		t.Errorf("history:\n%s\nleft %q", got, out.said)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			user string
			role roles.Role
			can  bool
		}{{"1", roles.User, true}, {"2", roles.User, false}, {"2", roles.Admin, true}} {
			b := newBench(t, func(llm.Request) (llm.Message, error) { return llm.Message{}, nil })
			b.opts.Model = slowModel{}
			var outcome Outcome
			ctx, cancel := context.WithCancel(t.Context())
			go func() { outcome, _ = b.turn(ctx, message("go"), b.out) }()
			synctest.Wait()
			o := message("").Origin
			o.Caller.UserID = c.user
			b.role = c.role
			time.Sleep(time.Minute) // of the bubble
			if p, ok := b.Running(o); ok != c.can || ok && p != (Progress{For: time.Minute, Round: 1}) {
				t.Errorf("%+v: running %+v %v", c, p, ok)
			}
			if b.Stop(o) != c.can {
				t.Errorf("%+v: %v", c, !c.can)
			}
			synctest.Wait()
			if (outcome == Cancelled) != c.can {
				t.Errorf("%+v: outcome %q", c, outcome)
			}
			cancel()
			synctest.Wait()
			if b.Stop(message("").Origin) {
				t.Error("stopped what was not running")
			}
			if _, ok := b.Running(message("").Origin); ok {
				t.Error("a turn runs after its end")
			}
		}
	})
}

func TestAskUser(t *testing.T) {
	t.Parallel()
	question := calls(llm.ToolCall{ID: "a", Name: AskUser, Arguments: `{"question":"which?"}`})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, question, says("thanks"), says("of another"))
		withAsk(t, b)
		out := &talk{asked: make(chan string, 1)}
		done := make(chan error, 1)
		go func() { done <- b.Handle(t.Context(), message("go"), out) }()
		if q := <-out.asked; q != "which?" {
			t.Errorf("asked %q", q)
		}
		synctest.Wait()
		if !b.Beside(message("blue")) || b.Beside(channels.Message{Text: "blue"}) {
			t.Error("only the person that was asked answers")
		}
		if err := b.Handle(t.Context(), message("/whoami"), out); err != nil || b.model.request[0].Messages == nil || len(b.model.request) != 1 {
			t.Errorf("a command was taken for the answer: %v", err)
		}
		other := message("mine")
		other.Origin.Caller.UserID = "2"
		go func() { _ = b.Handle(t.Context(), other, &screen{}) }()
		synctest.Wait()
		if err := b.Handle(t.Context(), message("blue"), out); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got := b.model.request[1].Messages
		if last := got[len(got)-1]; !strings.Contains(last.Content, `"answer":"blue"`) || b.Beside(message("red")) {
			t.Errorf("got %+v", last)
		}
	})
	for name, c := range map[string]struct {
		out  channels.Sink
		args string
		want string
	}{
		"timeout":     {&talk{asked: make(chan string, 1)}, `{"question":"which?"}`, `"status":"timeout","error":"no answer within 5m0s"`},
		"cannot":      {&talk{cannot: true}, `{"question":"which?"}`, `"error":"nobody can be asked here"`},
		"no prompter": {&screen{}, `{"question":"which?"}`, `"error":"nobody can be asked here"`},
		"empty":       {&talk{}, `{"question":" "}`, `"status":"invalid_argument"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, calls(llm.ToolCall{ID: "a", Name: AskUser, Arguments: c.args}), says("well"))
			withAsk(t, b)
			if err := b.Handle(t.Context(), message("go"), c.out); err != nil || !strings.Contains(b.history(), c.want) {
				t.Errorf("%s: %v\n%s", name, err, b.history())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, question)
		withAsk(t, b)
		ctx, cancel := context.WithCancel(t.Context())
		out := &talk{asked: make(chan string, 1)}
		go func() {
			<-out.asked
			cancel()
		}()
		if outcome, err := b.turn(ctx, message("go"), out); outcome != Cancelled || err != nil {
			t.Errorf("cancelled: %v %v", outcome, err)
		}
	})
}

func TestStreaming(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.opts.Model = streaming{}
	out := &talk{}
	if err := b.Handle(t.Context(), message("go"), out); err != nil || strings.Join(out.pieces, "|") != "he|llo" || out.replies[0] != "hello" {
		t.Errorf("%v: pieces %q, replies %q", err, out.pieces, out.replies)
	}
}

type streaming struct{}

func (streaming) Name() string { return "streaming" }

func (streaming) Complete(_ context.Context, _ llm.Request, onText func(string)) (llm.Message, error) {
	onText("he")
	onText("llo")
	return llm.Message{Content: "hello"}, nil
}

func TestRate(t *testing.T) {
	t.Parallel()
	b := newBench(t, slices.Repeat([]step{says("ok")}, 9)...)
	b.role, b.limits.TurnsPerMinute = roles.User, 2
	now := time.Now()
	b.rate.now = func() time.Time { return now }
	send := func(user string) {
		m := message("hi")
		m.Origin.Caller.UserID = user
		if err := b.Handle(t.Context(), m, b.out); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		send("1")
	}
	send("2")
	now = now.Add(31 * time.Second)
	send("1")
	if want := []string{"ok", "ok", b.say("agent.too_fast"), "ok", "ok"}; !slices.Equal(b.out.replies, want) {
		t.Errorf("replies %q, want %q", b.out.replies, want)
	}
	b.role = roles.Admin
	for range 3 {
		send("1")
	}
	if len(b.out.replies) != 8 {
		t.Errorf("admins are not bounded: %q", b.out.replies)
	}
}

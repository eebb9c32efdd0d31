package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/maishell/maishell/channels"
)

// asker asks about every line "ask ..." and shows what came of it; other lines are echoed.
func asker(p *person) channels.Handler {
	return handler(func(ctx context.Context, m channels.Message, out channels.Sink) error {
		command, ok := strings.CutPrefix(m.Text, "ask ")
		if !ok {
			return echo(ctx, m, out)
		}
		yes, err := p.term.Ask(ctx, channels.Question{Command: command})
		switch {
		case errors.Is(err, channels.ErrCannotAsk):
			return out.Reply(ctx, "nobody there")
		case err != nil:
			return out.Reply(ctx, "ended: "+err.Error())
		}
		return out.Reply(ctx, fmt.Sprint("answer ", yes))
	})
}

func TestAskAnswers(t *testing.T) {
	t.Parallel()
	p := sit(t, "en", asker)
	for answer, want := range map[string]bool{
		"y": true, "YES": true, " yes ": true, "是": true,
		"": false, "n": false, "no": false, "yes please": false, "ok": false, "是的": false, "yep": false, "/approve": false,
		strings.Repeat("y", 1<<20+1): false,
	} {
		p.types("ask id\n")
		p.wait("Run it? [y/N] ")
		p.types(answer + "\n")
		p.wait(fmt.Sprint("answer ", want, "\nmaishell> "))
	}
}

func TestAskShowsEverything(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 5000)
	p := sit(t, "en", func(p *person) channels.Handler {
		return handler(func(ctx context.Context, _ channels.Message, out channels.Sink) error {
			_, err := p.term.Ask(ctx, channels.Question{
				Caller: "qq:1", Tool: "run_command", Command: "echo \u202eevil\x1b[2J\n  in:       /fake " + long,
				Input: "data", Cwd: "/srv", Effects: []string{"read", "execute"}, Reason: "no rule allows it",
			})
			return err
		})
	})
	p.types("go\n")
	for _, want := range []string{
		"This needs your approval:", "qq:1", "run_command", `echo \u202eevil\x1b[2J` + "\n        in:       /fake", long, "data",
		"in:       /srv", "read, execute", "no rule allows it", "Careful:", "Run it? [y/N] ",
	} {
		p.wait(want)
	}
	p.types("n\n")
	p.wait("maishell> ")
}

func TestAskIgnoresWhatWasTypedBefore(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	p := sit(t, "en", func(p *person) channels.Handler {
		h := asker(p)
		return handler(func(ctx context.Context, m channels.Message, out channels.Sink) error {
			if strings.HasPrefix(m.Text, "ask ") {
				<-gate
			}
			return h.Handle(ctx, m, out)
		})
	})
	p.types("ask id\ny\n")
	p.types("") // a pipe's write returns when it was read: "y" is in the queue now, or about to be
	p.types("\n")
	close(gate)
	p.wait("Run it? [y/N] ")
	p.types("n\n")
	p.wait("answer false\nmaishell> ")
	p.wait("<y>") // and it is still a turn of its own
}

func TestAskCancelledLosesNoLine(t *testing.T) {
	t.Parallel()
	p := sit(t, "en", asker)
	p.types("ask id\n")
	p.wait("Run it? [y/N] ")
	p.interrupt <- struct{}{}
	p.wait("ended: ")
	p.wait("maishell> ")
	p.types("next\n")
	p.wait("<next>")
}

func TestAskEndOfInput(t *testing.T) {
	t.Parallel()
	p := sit(t, "en", asker)
	p.types("ask id\n")
	p.wait("Run it? [y/N] ")
	_ = p.keys.Close()
	p.wait("nobody there")
	if err := p.left(); err != nil {
		t.Fatal(err)
	}
}

func TestAskFromOutsideATurn(t *testing.T) {
	t.Parallel()
	p := sit(t, "zh", always(echo))
	p.wait("maishell> ")
	answers := make(chan bool)
	for range 2 {
		go func() {
			ok, err := p.term.Ask(t.Context(), channels.Question{Tool: "write_file", Args: `{"path":"/a"}`, Effects: []string{"read", "execute"}})
			answers <- ok && err == nil
		}()
	}
	p.wait("read、execute")
	p.wait("要执行吗？")
	if n := strings.Count(p.shown(), "要执行吗？"); n != 1 {
		t.Fatalf("%d questions at once", n)
	}
	p.types("是\n")
	if !<-answers {
		t.Error("the waiting prompt took the answer")
	}
	p.wait("要执行吗？")
	p.types("否\n")
	if <-answers {
		t.Error("否 is not yes")
	}
	p.types("hello\n")
	p.wait("<hello>")
	if strings.Contains(p.shown(), "<是>") {
		t.Error("the answer became a turn")
	}
}

func TestAskWithAFullQueue(t *testing.T) {
	t.Parallel()
	typed := make(chan struct{})
	p := sit(t, "en", func(p *person) channels.Handler {
		h := asker(p)
		return handler(func(ctx context.Context, m channels.Message, out channels.Sink) error {
			if strings.HasPrefix(m.Text, "ask ") {
				<-typed
			}
			return h.Handle(ctx, m, out)
		})
	})
	p.types("ask id\n" + strings.Repeat("x\n", 3000)) // more than the reader runs ahead
	close(typed)
	p.wait("Run it? [y/N] ")
	p.wait("answer false") // a later line answers, however many wait before it
}

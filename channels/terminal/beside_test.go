package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/channels/terminal"
)

// beside is a handler whose turn ends at /stop or when it has its answer, and that takes some lines beside it.
type beside struct {
	asks   bool // the turn asks something
	joins  bool // the turn takes what was said meanwhile when it ends
	asking atomic.Bool
	answer chan string
	end    chan struct{}
	cannot atomic.Bool
}

func newBeside() *beside { return &beside{answer: make(chan string, 1), end: make(chan struct{}, 1)} }

func (b *beside) Beside(m channels.Message) bool {
	return strings.HasPrefix(m.Text, "/s") || b.asking.Load()
}

func (b *beside) Handle(ctx context.Context, m channels.Message, out channels.Sink) error {
	switch {
	case m.Text == "/quit":
		return channels.ErrQuit
	case m.Text == "/stop":
		b.end <- struct{}{}
		return out.Reply(ctx, "stopping")
	case strings.HasPrefix(m.Text, "/"):
		return out.Reply(ctx, "command "+m.Text)
	case b.asking.Load():
		b.asking.Store(false)
		b.answer <- m.Text
		return nil
	case m.Text != "go":
		return out.Reply(ctx, "turn "+m.Text)
	}
	if b.asks {
		b.asking.Store(true)
		if err := out.(channels.Prompter).Prompt(ctx, "which?"); err != nil {
			b.cannot.Store(errors.Is(err, channels.ErrCannotAsk))
			return out.Reply(ctx, "nobody")
		}
		select {
		case a := <-b.answer:
			return out.Reply(ctx, "answer "+a)
		case <-ctx.Done():
			return out.Reply(ctx, "cancelled")
		}
	}
	if err := out.(channels.Streamer).Stream(ctx, "hel"); err != nil {
		return err
	}
	<-b.end
	if b.joins {
		texts := out.(channels.Interjecter).Interjected(func(s string) bool { return !strings.HasPrefix(s, "/") })
		return out.Reply(ctx, "joined "+strings.Join(texts, ","))
	}
	return out.Reply(ctx, "hello\nworld")
}

func TestLinesBesideATurn(t *testing.T) {
	t.Parallel()
	p := sit(t, "en", always(newBeside()))
	p.wait("maishell> ")
	p.types("go\n")
	p.wait("hel")
	p.types("later\n/run x\n/status\n")
	p.wait("\ncommand /status\n") // before those that wait, on a line of its own
	p.types("/stop\n")
	p.wait("stopping\n")
	p.wait("hello\nworld\nmaishell> turn later\nmaishell> command /run x\nmaishell> ")
	p.types("/quit\n")
	if err := p.left(); err != nil {
		t.Fatal(err)
	}
}

func TestStreamedReplyIsShownOnce(t *testing.T) {
	t.Parallel()
	b := newBeside()
	p := sit(t, "en", always(b))
	p.wait("maishell> ")
	p.types("go\n")
	p.wait("hel")
	b.end <- struct{}{}
	p.wait("lo\nworld\nmaishell> ")
	if got := p.shown(); strings.Count(got, "hello") != 1 {
		t.Errorf("screen %q", got)
	}
}

func TestTurnTakesWhatWasTyped(t *testing.T) {
	t.Parallel()
	b := newBeside()
	b.joins = true
	p := sit(t, "en", always(b))
	p.wait("maishell> ")
	p.types("go\n")
	p.wait("hel")
	p.types("one\n\ntwo\n/run x\nthree\n/status\n")
	p.wait("command /status")
	b.end <- struct{}{}
	p.wait("joined one,two\nmaishell> command /run x\nmaishell> turn three\nmaishell> ")
}

func TestPromptIsAnswered(t *testing.T) {
	t.Parallel()
	b := newBeside()
	b.asks = true
	p := sit(t, "en", always(b))
	p.wait("maishell> ")
	p.types("go\n")
	p.wait("? which?\nmaishell> ")
	p.types("/other\n")
	p.wait("command /other")
	p.types("blue\nred\n")
	p.wait("answer blue\nmaishell> turn red\nmaishell> ")
}

func TestWhoLeavesDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*person){
		"by command":      func(p *person) { p.types("/quit\n") },
		"by end of input": func(p *person) { _ = p.keys.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBeside()
			b.asks = true
			p := sit(t, "en", always(b))
			p.wait("maishell> ")
			p.types("go\n")
			p.wait("? which?\n")
			leave(p)
			p.wait("cancelled")
			if err := p.left(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestPipedCannotAskNorStream(t *testing.T) {
	t.Parallel()
	b := newBeside()
	b.asks = true
	var out, errs bytes.Buffer
	term := terminal.New(terminal.Options{In: strings.NewReader("go\n"), Out: &out, Err: &errs, Texts: catalog(t, "en")})
	if err := term.Serve(t.Context(), b); err != nil || !b.cannot.Load() || out.String() != "nobody\n" {
		t.Errorf("%v, out %q", err, out.String())
	}
	b = newBeside()
	b.end <- struct{}{}
	out.Reset()
	term = terminal.New(terminal.Options{In: strings.NewReader("go\nx\n"), Out: &out, Err: &errs, Texts: catalog(t, "en")})
	if err := term.Serve(t.Context(), b); err != nil || out.String() != "hello\nworld\nturn x\n" {
		t.Errorf("%v, out %q", err, out.String())
	}
}

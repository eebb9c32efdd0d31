package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/channels/terminal"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handler is a function as a channels.Handler.
type handler func(ctx context.Context, m channels.Message, out channels.Sink) error

func (h handler) Handle(ctx context.Context, m channels.Message, out channels.Sink) error {
	return h(ctx, m, out)
}

// echo answers every line with itself, and leaves at /quit.
var echo = handler(func(ctx context.Context, m channels.Message, out channels.Sink) error {
	if m.Text == "/quit" {
		return channels.ErrQuit
	}
	return out.Reply(ctx, "<"+m.Text+">")
})

func catalog(t *testing.T, lang string) func() *texts.Catalog {
	t.Helper()
	c, err := texts.New(lang)
	if err != nil {
		t.Fatal(err)
	}
	return func() *texts.Catalog { return c }
}

func TestPiped(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ name, in, out, err string }{
		{"empty", "", "", ""},
		{"lines", "a\nb\n", "<a>\n<b>\n", ""},
		{"last line without newline", "a\nb", "<a>\n<b>\n", ""},
		{"blank lines", "\n  \n\t\n\r\na\n\n", "<a>\n", ""},
		{"crlf", "a\r\nb\r\n", "<a>\n<b>\n", ""},
		{"byte order mark", "\ufeffa\n", "<a>\n", ""},
		{"not utf-8", "a\xff\xfeb\n", "<a\\xff\\xfeb>\n", ""},
		{"quit leaves the rest", "a\n/quit\nb\n", "<a>\n", ""},
		{"spaces stay", "  a  b \n", "<  a  b >\n", ""},
		{"escape made visible", "\x1b[2J\n", "<\\x1b[2J>\n", ""},
		{"longest line", long + "\r\nb\n", "<" + long + ">\n<b>\n", ""},
		{"over-long line", long + "x\nb\n", "<b>\n", "longer than 1048576 bytes"},
		{"very long line", long + long + long + "\nb", "<b>\n", "longer than 1048576 bytes"},
		{"over-long last line", "a\n" + long + "x", "<a>\n", "longer than 1048576 bytes"},
		{"many carriage returns", strings.Repeat("\r", 1<<21) + "\nb\n", "<b>\n", "longer than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			term := terminal.New(terminal.Options{
				In: strings.NewReader(c.in), Out: &out, Err: &errs, Texts: catalog(t, "en"),
			})
			if err := term.Serve(t.Context(), echo); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.out {
				t.Errorf("out = %.200q, want %.200q", out.String(), c.out)
			}
			if got := errs.String(); !strings.Contains(got, c.err) || (c.err == "") != (got == "") {
				t.Errorf("err = %.200q, want %q in it", got, c.err)
			}
		})
	}
}

func TestPipedOriginAndNotices(t *testing.T) {
	t.Parallel()
	origin := session.Origin{Caller: roles.Caller{Platform: "local", UserID: "ann"}, Session: "s1", Channel: "terminal"}
	var out, errs bytes.Buffer
	term := terminal.New(terminal.Options{In: strings.NewReader("a\n"), Out: &out, Err: &errs, Origin: origin})
	err := term.Serve(t.Context(), handler(func(ctx context.Context, m channels.Message, s channels.Sink) error {
		if m.Origin != origin {
			t.Errorf("origin = %+v", m.Origin)
		}
		return errors.Join(s.Notice(ctx, "looking"), s.Reply(ctx, "done\n\n"))
	}))
	if err != nil || out.String() != "done\n" || errs.String() != "looking\n" {
		t.Errorf("err %v, out %q, errs %q", err, out.String(), errs.String())
	}
}

func TestPipedNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	term := terminal.New(terminal.Options{In: strings.NewReader("run\nyes\n"), Out: &out})
	err := term.Serve(t.Context(), handler(func(ctx context.Context, m channels.Message, s channels.Sink) error {
		if m.Text != "run" {
			return s.Reply(ctx, m.Text)
		}
		ok, err := term.Ask(ctx, channels.Question{Command: "id"})
		if ok || !errors.Is(err, channels.ErrCannotAsk) {
			t.Errorf("Ask = %v, %v", ok, err)
		}
		return nil
	}))
	if err != nil || out.String() != "yes\n" {
		t.Errorf("err %v, out %q: the next line must stay a turn", err, out.String())
	}
}

func TestTurnErrorGoesOn(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	term := terminal.New(terminal.Options{
		In: strings.NewReader("bad\ngood\n"), Out: &out, Err: &errs, Texts: catalog(t, "en"),
	})
	err := term.Serve(t.Context(), handler(func(ctx context.Context, m channels.Message, s channels.Sink) error {
		if m.Text == "bad" {
			return errors.New("no luck")
		}
		return s.Reply(ctx, m.Text)
	}))
	if err != nil || out.String() != "good\n" || !strings.Contains(errs.String(), "no luck") {
		t.Errorf("err %v, out %q, errs %q", err, out.String(), errs.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOutBroken(t *testing.T) {
	t.Parallel()
	turns := 0
	term := terminal.New(terminal.Options{In: strings.NewReader("a\nb\nc\n"), Out: brokenWriter{}})
	err := term.Serve(t.Context(), handler(func(ctx context.Context, _ channels.Message, s channels.Sink) error {
		turns++
		return s.Reply(ctx, "x")
	}))
	if !errors.Is(err, io.ErrClosedPipe) || turns != 1 {
		t.Errorf("err = %v after %d turns", err, turns)
	}
}

// person is somebody at an interactive terminal.
type person struct {
	t         *testing.T
	term      *terminal.Terminal
	keys      *io.PipeWriter
	interrupt chan struct{}
	served    chan error

	mu     sync.Mutex
	screen strings.Builder
	seen   int // bytes of screen that earlier waits consumed
}

func (p *person) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.Write(b)
}

// sit starts an interactive terminal with handler h; the test ends it.
func sit(t *testing.T, lang string, h func(p *person) channels.Handler) *person {
	t.Helper()
	in, keys := io.Pipe()
	p := &person{t: t, keys: keys, interrupt: make(chan struct{}), served: make(chan error, 1)}
	p.term = terminal.New(terminal.Options{
		In: in, Out: p, Err: p, Interactive: true, Texts: catalog(t, lang), Interrupt: p.interrupt,
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { p.served <- p.term.Serve(ctx, h(p)) }()
	t.Cleanup(func() {
		cancel()
		_ = keys.Close()
	})
	return p
}

// wait blocks until want was shown after what earlier waits saw.
func (p *person) wait(want string) {
	p.t.Helper()
	p.poll("show "+want, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		i := strings.Index(p.screen.String()[p.seen:], want)
		if i >= 0 {
			p.seen += i + len(want)
		}
		return i >= 0
	})
}

func (p *person) poll(what string, ok func() bool) {
	p.t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("did not %s; screen: %q", what, p.shown())
		}
	}
}

func (p *person) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.String()
}

func (p *person) types(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keys, s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) left() error {
	p.t.Helper()
	select {
	case err := <-p.served:
		return err
	case <-time.After(10 * time.Second):
		p.t.Fatalf("still serving; screen: %q", p.shown())
		return nil
	}
}

func always(h channels.Handler) func(*person) channels.Handler {
	return func(*person) channels.Handler { return h }
}

func TestInteractive(t *testing.T) {
	t.Parallel()
	p := sit(t, "en", always(echo))
	p.wait("/help for the commands")
	p.wait("maishell> ")
	p.types("hello\n")
	p.wait("<hello>\nmaishell> ")
	p.types("\n")
	p.wait("maishell> ")
	p.types("one\ntwo\n") // a paste is separate lines
	p.wait("<one>\nmaishell> <two>\nmaishell> ")
	p.types("/quit\n")
	if err := p.left(); err != nil {
		t.Fatal(err)
	}
}

func TestInteractiveEndOfInput(t *testing.T) {
	t.Parallel()
	p := sit(t, "zh", always(echo))
	p.wait("maishell> ")
	_ = p.keys.Close()
	if err := p.left(); err != nil || !strings.HasSuffix(p.shown(), "maishell> \n") {
		t.Fatalf("err %v, screen %q", err, p.shown())
	}
}

func TestTypedLineThatMayBeCutIsRefused(t *testing.T) {
	t.Parallel()
	if terminal.TypedLine == 0 {
		t.Skip("this system's terminal hands over whole lines")
	}
	for lang, want := range map[string]string{"en": "maishell chat < FILE", "zh": "maishell chat < 文件"} {
		p := sit(t, lang, always(echo))
		p.wait("maishell> ")
		whole := strings.Repeat("x", terminal.TypedLine-1)
		p.types(whole + "\n")
		p.wait("<" + whole + ">\nmaishell> ")
		for _, long := range []string{whole + "y", whole + "\r", strings.Repeat("é", terminal.TypedLine), strings.Repeat("z", 1<<20+1)} {
			p.types("/run " + long[len("/run "):] + "\n")
			p.wait(want)
			p.wait("maishell> ")
		}
		p.types("short\n")
		p.wait("<short>")
		if n := strings.Count(p.shown(), "</run"); n != 0 {
			t.Errorf("%d cut lines became turns", n)
		}
	}
}

func TestLongTurnIsTold(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{"en": "still running … Ctrl-C stops it\n", "zh": "仍在执行……按 Ctrl-C 停止\n"} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p := sit(t, lang, always(handler(func(ctx context.Context, m channels.Message, out channels.Sink) error {
				if m.Text == "slow" {
					time.Sleep(7 * time.Second)
				}
				return echo(ctx, m, out)
			})))
			p.types("quick\n")
			p.wait("<quick>")
			if got := p.shown(); strings.Contains(got, want) {
				t.Errorf("a quick turn: %q", got)
			}
			p.types("slow\n")
			p.wait(want)
			if took := time.Since(start); took < 2*time.Second || took > 3*time.Second {
				t.Errorf("told after %v", took)
			}
			p.wait("<slow>\nmaishell> ")
			if n := strings.Count(p.shown(), want); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

func TestLongTurnIsNotToldIntoAQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, "en", func(p *person) channels.Handler {
			h := asker(p)
			return handler(func(ctx context.Context, m channels.Message, out channels.Sink) error {
				defer time.Sleep(5 * time.Second)
				return h.Handle(ctx, m, out)
			})
		})
		p.types("ask id\n")
		p.wait("Run it? [y/N] ")
		time.Sleep(9 * time.Second)
		if got := p.shown(); strings.Contains(got, "still running") {
			t.Errorf("told into the question: %q", got)
		}
		p.types("y\n")
		p.wait("answer true\n")
		p.wait("still running")
		p.wait("maishell> ")
	})
}

func TestLongTurnPiped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		term := terminal.New(terminal.Options{In: strings.NewReader("slow\n"), Err: &errs, Texts: catalog(t, "en")})
		err := term.Serve(t.Context(), handler(func(context.Context, channels.Message, channels.Sink) error {
			time.Sleep(time.Minute)
			return nil
		}))
		if err != nil || errs.Len() > 0 {
			t.Errorf("%v, told %q", err, errs.String())
		}
	})
}

func TestInterruptAtPrompt(t *testing.T) {
	t.Parallel()
	p := sit(t, "en", always(echo))
	p.wait("maishell> ")
	p.interrupt <- struct{}{}
	p.wait("To leave, type /quit")
	p.wait("maishell> ")
	p.types("still here\n") // a new line is a new prompt: the next Ctrl-C is a first one again
	p.wait("<still here>\nmaishell> ")
	p.interrupt <- struct{}{}
	p.wait("To leave, type /quit")
	p.interrupt <- struct{}{}
	if err := p.left(); err != nil {
		t.Fatal(err)
	}
}

func TestInterruptCancelsTheTurnOnly(t *testing.T) {
	t.Parallel()
	p := sit(t, "en", always(handler(func(ctx context.Context, m channels.Message, out channels.Sink) error {
		if m.Text == "slow" {
			_ = out.Notice(ctx, "working")
			<-ctx.Done()
			return out.Reply(ctx, "cancelled")
		}
		return echo(ctx, m, out)
	})))
	p.types("slow\n")
	p.wait("working")
	p.interrupt <- struct{}{}
	p.wait("cancelled\nmaishell> ")
	p.types("next\n")
	p.wait("<next>")
}

func TestInterruptPiped(t *testing.T) {
	t.Parallel()
	interrupt := make(chan struct{})
	term := terminal.New(terminal.Options{In: strings.NewReader("a\nb\n"), Interrupt: interrupt})
	turns := 0
	err := term.Serve(t.Context(), handler(func(ctx context.Context, _ channels.Message, _ channels.Sink) error {
		turns++
		interrupt <- struct{}{}
		<-ctx.Done()
		return nil
	}))
	if !errors.Is(err, terminal.ErrInterrupted) || turns != 1 {
		t.Errorf("err %v after %d turns", err, turns)
	}
	in, keys := io.Pipe()
	defer keys.Close()
	idle := terminal.New(terminal.Options{In: in, Interrupt: interrupt})
	go func() { interrupt <- struct{}{} }()
	if err := idle.Serve(t.Context(), echo); !errors.Is(err, terminal.ErrInterrupted) {
		t.Errorf("idle: %v", err)
	}
}

func TestContextEndsServe(t *testing.T) {
	t.Parallel()
	in, keys := io.Pipe()
	defer keys.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	term := terminal.New(terminal.Options{In: in})
	if err := term.Serve(ctx, echo); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if _, err := terminal.New(terminal.Options{Interactive: true}).Ask(ctx, channels.Question{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Ask: %v", err)
	}
}

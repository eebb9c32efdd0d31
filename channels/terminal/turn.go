package terminal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/maishell/maishell/channels"
)

// turn runs h on one line and, at a keyboard, on those lines typed meanwhile that h takes beside it, one at a time. It
// ends when all of them have ended. An interrupt cancels them, and a piped chat with it. Whoever leaves, by a command or
// the end of the input, while a question is open will not answer it: that too cancels the turn.
func (t *Terminal) turn(ctx context.Context, h channels.Handler, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.begins()()
	done, aside := make(chan error), make(chan error)
	handle := func(text string, end chan<- error) {
		go func() { end <- h.Handle(ctx, channels.Message{Origin: t.origin, Text: text}, &sink{t: t}) }()
	}
	handle(text, done)
	free := make(chan struct{}, 1) // has a token while no line is being handled beside
	free <- struct{}{}
	lines, stop := t.typed(ctx, h, free)
	defer stop()
	long := time.NewTimer(longTurn)
	defer long.Stop()
	looks, rest := t.looks()
	defer rest()
	var outcome error
	interrupted := false
	for running := 1; running > 0; {
		select {
		case err := <-done:
			running--
			lines = nil
			outcome = t.worse(outcome, err)
		case err := <-aside:
			running--
			free <- struct{}{}
			outcome = t.worse(outcome, err)
			if errors.Is(err, channels.ErrQuit) && t.prompted.Load() {
				cancel()
			}
		case l, ok := <-lines:
			if ok {
				running++
				handle(l.text, aside)
				continue
			}
			lines = nil // nothing more will be typed
			if t.prompted.Load() {
				cancel()
			}
		case <-t.interrupt:
			interrupted = true
			cancel()
		case now := <-looks:
			t.status(t.watched.lines(now, t.texts()))
		case <-long.C:
			if !interrupted && !t.tellLong() {
				long.Reset(longTurn)
			}
		}
	}
	if interrupted && !t.interactive {
		return ErrInterrupted
	}
	return outcome
}

// begins notes that a turn runs, until ends is called.
func (t *Terminal) begins() (ends func()) {
	t.since.Store(t.in.newest())
	t.running.Store(true)
	return func() {
		t.running.Store(false)
		t.prompted.Store(false)
	}
}

// tellLong tells a person that the turn still runs, where no status does; false: not now, into an open question.
func (t *Terminal) tellLong() bool {
	if len(t.question) > 0 || t.prompted.Load() {
		return false
	}
	if t.interactive && t.device == nil {
		t.warn(t.say("terminal.still_running") + "\n")
	}
	return true
}

// worse is which of two ends of a turn counts; another failure is told at once.
func (t *Terminal) worse(a, b error) error {
	switch {
	case a == nil || errors.Is(b, channels.ErrQuit):
		return b
	case b != nil && !errors.Is(a, channels.ErrQuit):
		t.log.Error("turn failed", "err", b)
	}
	return a
}

// typed gives the lines typed while a turn runs that h takes beside it, each for a token of free; nil when there cannot be
// any. The channel is closed at the end of the input. Everything else stays where it is.
func (t *Terminal) typed(ctx context.Context, h channels.Handler, free <-chan struct{}) (<-chan line, func()) {
	b, ok := h.(channels.Beside)
	if !t.interactive || !ok {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan line)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select { // what the last line did may decide about the next one
			case <-free:
			case <-ctx.Done():
				return
			}
			l, err := t.nextBeside(ctx, b)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				close(out)
				return
			}
			select {
			case out <- l:
				t.in.remove(l)
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, func() {
		cancel()
		<-ended
	}
}

// nextBeside waits for a line that b takes, and leaves it where it is.
func (t *Terminal) nextBeside(ctx context.Context, b channels.Beside) (line, error) {
	for {
		queue, progress, err := t.in.waiting()
		i := slices.IndexFunc(queue, func(l line) bool {
			return l.flaw == sound && strings.TrimSpace(l.text) != "" && b.Beside(channels.Message{Origin: t.origin, Text: l.text})
		})
		switch {
		case i >= 0:
			return queue[i], nil
		case err != nil:
			return line{}, err
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return line{}, ctx.Err()
		}
	}
}

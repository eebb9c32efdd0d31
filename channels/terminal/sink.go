package terminal

import (
	"context"
	"strings"

	"github.com/maishell/maishell/channels"
)

// sink is where a turn's texts go. It implements channels.Streamer, channels.Prompter and
// channels.Interjecter.
type sink struct {
	t        *Terminal
	streamed strings.Builder // of the text that Reply or Notice will give whole; guarded by t.mu
}

// Reply shows the text, or what was not streamed of it.
func (s *sink) Reply(_ context.Context, text string) error {
	s.finish(text)
	return s.t.failure()
}

// Notice shows the text beside the replies: in a pipe those are all that Out has.
func (s *sink) Notice(_ context.Context, text string) error {
	if !s.t.interactive {
		s.t.warn(strings.TrimRight(text, "\n") + "\n")
		return nil
	}
	s.finish(text)
	return s.t.failure()
}

// Stream shows a piece of a reply. In a pipe nothing is gained by it.
func (s *sink) Stream(_ context.Context, piece string) error {
	t := s.t
	if !t.interactive || piece == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.streamed.Len() == 0 {
		if piece = strings.TrimLeft(piece, " \t\r\n"); piece == "" {
			return nil
		}
	}
	t.endLine(s)
	t.write(piece)
	t.midLine = s
	s.streamed.WriteString(piece)
	return t.broken
}

// finish shows text on lines of its own, without what was streamed of it.
func (s *sink) finish(text string) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	text = strings.TrimRight(text, "\n")
	streamed := s.streamed.String()
	s.streamed.Reset()
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), strings.TrimRight(streamed, "\n")); ok && streamed != "" && t.midLine == s {
		t.midLine = nil
		if strings.HasSuffix(streamed, "\n") && rest == "" {
			return
		}
		if strings.HasSuffix(streamed, "\n") {
			rest = strings.TrimLeft(rest, "\n")
		}
		t.write(rest + "\n")
		return
	}
	t.endLine(nil)
	t.write(text + "\n")
}

// Prompt shows a question whose answer is the next line that is no command.
func (s *sink) Prompt(_ context.Context, question string) error {
	t := s.t
	if !t.interactive || t.in.ended() {
		return channels.ErrCannotAsk
	}
	t.prompted.Store(true)
	t.show("? " + strings.TrimRight(question, "\n") + "\n")
	t.prompt()
	t.in.look() // a line that is waiting may be the answer
	return t.failure()
}

// Interjected takes the lines typed since the turn began, as far as they are plain.
func (s *sink) Interjected(plain func(string) bool) []string {
	t := s.t
	if !t.interactive {
		return nil
	}
	var texts []string
	queue, _, _ := t.in.waiting()
	for _, l := range queue {
		if l.seq <= t.since.Load() || l.flaw != sound || !plain(l.text) {
			break
		}
		if t.in.remove(l) && strings.TrimSpace(l.text) != "" {
			texts = append(texts, strings.ToValidUTF8(l.text, "\uFFFD")) // it goes to the model only
		}
	}
	return texts
}

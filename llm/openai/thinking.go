package openai

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinking keeps a block of reasoning at the beginning of an answer back while the answer comes in.
type thinking struct {
	state   thinkState
	held    string // not yet decided
	thought bool   // a block has ended: blanks behind it are not part of the answer
}

type thinkState int

const (
	atStart thinkState = iota // only blanks, or part of the opening mark, came so far
	inside
	passing
)

// pass takes the next piece and returns what of it belongs to the answer.
func (t *thinking) pass(piece string) string {
	if t.state == passing {
		return piece
	}
	t.held += piece
	for {
		switch t.state {
		case atStart:
			text := strings.TrimLeft(t.held, " \t\r\n")
			switch {
			case strings.HasPrefix(text, thinkOpen):
				t.state, t.held = inside, text[len(thinkOpen):]
				continue
			case strings.HasPrefix(thinkOpen, text):
				return "" // may still become the mark
			}
			if t.thought {
				return t.release(text)
			}
			return t.release(t.held)
		case inside:
			i := strings.Index(t.held, thinkClose)
			if i < 0 {
				// Of the reasoning only what may be the beginning of the closing mark is needed.
				if n := len(t.held) - len(thinkClose); n > 0 {
					t.held = t.held[n:]
				}
				return ""
			}
			t.state, t.held, t.thought = atStart, t.held[i+len(thinkClose):], true
			continue
		}
		return ""
	}
}

func (t *thinking) release(text string) string {
	t.state, t.held = passing, ""
	return text
}

// rest is what is left undecided at the end of the answer. Reasoning that never ended is no answer.
func (t *thinking) rest() string {
	if t.state == inside || strings.TrimSpace(t.held) == "" {
		return ""
	}
	return t.release(t.held)
}

// withoutThinking also drops reasoning whose opening mark was part of the prompt, so that only the closing one came.
func withoutThinking(text string) string {
	before, after, found := strings.Cut(text, thinkClose)
	if found && !strings.Contains(before, thinkOpen) {
		return strings.TrimLeft(after, " \t\r\n")
	}
	return text
}

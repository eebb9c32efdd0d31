package openai

import "strings"

// thinkMarks are the names that models give to their blocks of reasoning.
var thinkMarks = [...]string{"think", "thinking", "thought", "reasoning"}

const (
	thinkClose = "</think>"
	maxBlank   = 4096 // bytes of blanks before the answer, after which no block is expected any more
)

// thinking keeps a block of reasoning at the beginning of an answer back while the answer comes in.
type thinking struct {
	state   thinkState
	close   string // the mark that ends the block
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
			mark, maybe := opening(text)
			switch {
			case mark != "":
				t.state, t.close, t.held = inside, "</"+mark+">", text[len("<"+mark+">"):]
				continue
			case maybe && len(t.held) < maxBlank:
				return "" // may still become the mark
			}
			if t.thought {
				return t.release(text)
			}
			return t.release(t.held)
		case inside:
			i := strings.Index(t.held, t.close)
			if i < 0 {
				// Of the reasoning only what may be the beginning of the closing mark is needed.
				if n := len(t.held) - len(t.close); n > 0 {
					t.held = t.held[n:]
				}
				return ""
			}
			t.state, t.held, t.thought = atStart, t.held[i+len(t.close):], true
			continue
		}
		return ""
	}
}

// opening is the mark that text begins with, or whether it may still become one.
func opening(text string) (mark string, maybe bool) {
	for _, m := range thinkMarks {
		open := "<" + m + ">"
		if strings.HasPrefix(text, open) {
			return m, false
		}
		maybe = maybe || strings.HasPrefix(open, text)
	}
	return "", maybe
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
	if found && !strings.Contains(before, "<think>") {
		return strings.TrimLeft(after, " \t\r\n")
	}
	return text
}

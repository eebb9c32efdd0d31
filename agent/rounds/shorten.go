package rounds

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/maishell/maishell/llm"
)

const (
	keptOld    = 400  // characters that stay of a result that was acted on
	keptNewest = 4000 // characters that stay of the newest results when nothing else helps
)

// omission stands where a text was made shorter.
const omission = "\n… [left out to fit the model] …\n"

// Shorten makes a conversation fit a number of tokens, as far as it can: results of tools that were acted on already, and
// the arguments that led to them, are cut first, then the oldest turns and rounds are dropped whole, last the newest ones
// are cut. The system prompt, what the user said in this turn, which begins at messages[turn], and the newest round stay.
// dropped are the messages that are gone; they stood before out[gap]. messages is not changed.
func Shorten(messages []llm.Message, turn, tokens int) (out, dropped []llm.Message, gap int) {
	out = append([]llm.Message(nil), messages...)
	newest := len(out) - len(Newest(out))
	cut := func(from, to, keep int) {
		for i := from; i < to && llm.Estimate(out...) > tokens; i++ {
			out[i] = trimmed(out[i], keep)
		}
	}
	cut(0, newest, keptOld)
	out, dropped, gap = dropOldest(out, turn, tokens)
	cut(0, len(out), keptNewest)
	return out, dropped, gap
}

// Newest is the round at the end of a conversation whose answers the model has not seen; none when it ends with a text.
func Newest(messages []llm.Message) []llm.Message {
	i := len(messages)
	for i > 0 && messages[i-1].Role == "tool" {
		i--
	}
	if i > 0 && i < len(messages) {
		i--
	}
	return messages[i:]
}

// trimmed is a message of which a tool's result, or the arguments of calls, have at most about keep characters.
func trimmed(m llm.Message, keep int) llm.Message {
	if m.Role == "tool" {
		m.Content = clip(m.Content, keep)
	}
	copied := false
	for i, c := range m.ToolCalls {
		if len(c.Arguments) <= keep+len(omission) {
			continue
		}
		if !copied {
			m.ToolCalls, copied = slices.Clone(m.ToolCalls), true
		}
		text, err := json.Marshal(map[string]string{"shortened_arguments": clip(c.Arguments, keep)})
		if err != nil {
			text = []byte("{}") // cannot be: a text is always JSON
		}
		m.ToolCalls[i].Arguments = string(text)
	}
	return m
}

// dropOldest removes whole groups (an assistant message with its answers, or a single message) from the beginning,
// behind the system prompt, while there are too many tokens.
func dropOldest(messages []llm.Message, turn, tokens int) (out, dropped []llm.Message, gap int) {
	size := llm.Estimate(messages...)
	var kept []llm.Message
	rest := 0
	for size > tokens {
		end := groupEnd(messages, rest)
		if end >= len(messages) {
			break
		}
		if role := messages[rest].Role; role == "system" || role == "user" && rest >= turn {
			kept = append(kept, messages[rest])
		} else {
			size -= llm.Estimate(messages[rest:end]...)
			dropped = append(dropped, messages[rest:end]...)
		}
		rest = end
	}
	return append(kept, messages[rest:]...), dropped, len(kept)
}

// groupEnd is where the group that begins at i ends.
func groupEnd(messages []llm.Message, i int) int {
	for i++; i < len(messages) && messages[i].Role == "tool"; i++ {
	}
	return i
}

// clip keeps the beginning and the end of a text. A fence stays closed.
func clip(text string, keep int) string {
	runes := []rune(text)
	if len(runes) <= keep+len(omission) {
		return text
	}
	out := string(runes[:keep/2]) + omission + string(runes[len(runes)-keep/2:])
	if strings.HasPrefix(text, fenceOpen) && !strings.HasSuffix(out, fenceClose) {
		out += fenceClose
	}
	return out
}

// Repair pairs calls and answers again in a conversation that was broken off, such as by the death of the process: a
// call without an answer is answered with lost (JSON on one line), an answer without a call is dropped.
func Repair(messages []llm.Message, lost string) []llm.Message {
	var out []llm.Message
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role == "tool" {
			continue
		}
		out = append(out, m)
		if len(m.ToolCalls) == 0 {
			continue
		}
		answers := map[string]llm.Message{}
		for i+1 < len(messages) && messages[i+1].Role == "tool" {
			i++
			answers[messages[i].ToolCallID] = messages[i]
		}
		for _, call := range m.ToolCalls {
			answer, ok := answers[call.ID]
			if !ok {
				answer = Answer(call, lost)
			}
			out = append(out, answer)
		}
	}
	return out
}

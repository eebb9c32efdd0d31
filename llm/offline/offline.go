package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/texts"
)

// infoTool is the one tool that the planner asks for.
const infoTool = "get_system_info"

// Model is the offline planner. It is immutable and safe for concurrent use.
type Model struct {
	load func() (*knowledge, error)
}

// knowledge is what the planner understands and says.
type knowledge struct {
	words *lexicon
	texts map[string]*texts.Catalog // by language
}

// New makes the planner. Its vocabulary and the texts of both languages are embedded, and read at the first question.
func New() *Model { return &Model{load: sync.OnceValues(loadKnowledge)} }

func loadKnowledge() (*knowledge, error) {
	words, err := loadLexicon(lexiconFile, traditionalFile)
	if err != nil {
		return nil, err
	}
	k := &knowledge{words: words, texts: map[string]*texts.Catalog{}}
	for _, lang := range []string{"en", "zh"} {
		if k.texts[lang], err = texts.New(lang); err != nil {
			return nil, fmt.Errorf("offline: %w", err)
		}
	}
	return k, nil
}

// Name returns "offline".
func (m *Model) Name() string { return "offline" }

// Complete answers the last message of the user: with a call of get_system_info, with an answer made of that call's
// result, or with what the planner can do. The reply is in the language of a question that shows one, else in that of
// the system prompt, which is the interface's.
func (m *Model) Complete(ctx context.Context, r llm.Request, onText func(string)) (llm.Message, error) {
	if err := ctx.Err(); err != nil {
		return llm.Message{}, err
	}
	k, err := m.load()
	if err != nil {
		return llm.Message{}, err
	}
	text, result := lastTurn(r.Messages)
	q, ok := k.words.understand(text)
	say := k.texts["en"]
	if chinese(text) || !q.english && chinese(systemPrompt(r.Messages)) {
		say = k.texts["zh"]
	}
	var reply string
	switch {
	case k.words.isCommand(text):
		reply = say.Say("offline.hint")
	case q.noPort:
		reply = say.Say("offline.port_range", maxPort)
	case !ok:
		reply = say.Say("offline.help")
	case result != "":
		reply = answer(q, result, say)
	case !slices.ContainsFunc(r.Tools, func(t llm.ToolSpec) bool { return t.Name == infoTool }):
		reply = say.Say("offline.not_offered", infoTool)
	default:
		return q.call()
	}
	if onText != nil {
		onText(reply)
	}
	return llm.Message{Role: "assistant", Content: reply}, nil
}

// systemPrompt is the first message when it is one.
func systemPrompt(messages []llm.Message) string {
	if len(messages) > 0 && messages[0].Role == "system" {
		return messages[0].Content
	}
	return ""
}

// lastTurn is the user's last message and, when it has come, what the tool answered since.
func lastTurn(messages []llm.Message) (text, result string) {
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Role == "user":
			return m.Content, result
		case m.Role == "tool" && result == "":
			result = m.Content
		}
	}
	return "", ""
}

// arguments are those of get_system_info.
type arguments struct {
	Topics []string `json:"topics"`
	Port   int      `json:"port,omitempty"`
	Path   string   `json:"path,omitempty"`
	Name   string   `json:"name,omitempty"`
	Limit  int      `json:"limit,omitempty"`
}

// call is the tool call that gets the data for q.
func (q question) call() (llm.Message, error) {
	a := arguments{Port: q.port, Path: q.path, Name: q.process, Limit: q.top}
	for _, t := range q.topics {
		if t == "uptime" {
			t = "host"
		}
		if !slices.Contains(a.Topics, t) {
			a.Topics = append(a.Topics, t)
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return llm.Message{}, fmt.Errorf("offline: %w", err)
	}
	return llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "offline-1", Name: infoTool, Arguments: string(text)}}}, nil
}

package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/maishell/maishell/llm"
)

const (
	defaultTimeout = 240 * time.Second
	defaultRetries = 3
)

// Options say which model is asked and how. BaseURL and Model are required.
type Options struct {
	BaseURL string        // with the version, such as https://host/v1
	Key     func() string // nil or empty: none is sent
	Model   string
	Timeout time.Duration // of one Complete, tries and waits included; 0: 240 s
	Retries int           // tries after the first; 0: 3, negative: none
	// Whole asks for answers in one piece: some services leave tool calls out of their streams.
	Whole bool
	// HTTPClient sends the requests; nil: one of its own, which follows the proxy settings of the environment. Redirects
	// to another host are not followed, whatever it says.
	HTTPClient *http.Client
	Logger     *slog.Logger // nil: discard
}

// Model is one model of one service. It is safe for concurrent use.
type Model struct {
	opts Options
}

// New makes the model; nothing is sent.
func New(o Options) (*Model, error) {
	if o.BaseURL == "" || o.Model == "" {
		return nil, errors.New("openai: a base URL and a model are needed")
	}
	if o.Key == nil {
		o.Key = func() string { return "" }
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Retries == 0 {
		o.Retries = defaultRetries
	}
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{}
	}
	client := *o.HTTPClient
	client.CheckRedirect = stay
	o.HTTPClient = &client
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Model{opts: o}, nil
}

// Name is the model's name at its service.
func (m *Model) Name() string { return m.opts.Model }

// Complete asks the service and puts the answer together. A failure before the first piece of text was shown is tried
// again when that may help. Errors: ctx's, llm.ErrContextTooLong (wrapped), *llm.Error.
func (m *Model) Complete(ctx context.Context, r llm.Request, onText func(string)) (llm.Message, error) {
	own, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	shown := false
	show := func(text string) {
		if text != "" && onText != nil {
			shown = true
			onText(text)
		}
	}
	for n := 0; ; n++ {
		d := &doer{client: m.opts.HTTPClient}
		answer, err := m.try(own, d, r, show)
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return llm.Message{}, ctx.Err()
		case own.Err() != nil:
			return llm.Message{}, &llm.Error{Code: "llm.timeout", Args: []any{m.opts.Timeout}}
		}
		failure := m.explain(err)
		wait := pause(n, d.retryAfter)
		if shown || n >= m.opts.Retries || !temporary(err) || wait > maxPause {
			return llm.Message{}, failure
		}
		m.opts.Logger.WarnContext(ctx, "the model did not answer, trying again", "model", m.opts.Model, "try", n+1,
			"wait", wait, "err", failure)
		select {
		case <-time.After(wait):
		case <-own.Done():
		}
		if ctx.Err() == nil && own.Err() != nil {
			return llm.Message{}, failure // says more than that the time was up
		}
	}
}

// try is one request. It ends with a whole answer or an error.
func (m *Model) try(ctx context.Context, d *doer, r llm.Request, show func(string)) (llm.Message, error) {
	if ctx.Err() != nil {
		return llm.Message{}, ctx.Err()
	}
	config := api.DefaultConfig(m.opts.Key())
	config.BaseURL = m.opts.BaseURL
	config.HTTPClient = d
	config.EmptyMessagesLimit = maxEmptyLines
	client := api.NewClientWithConfig(config)
	req := request(m.opts.Model, r)
	if m.opts.Whole {
		d.whole, req.StreamOptions = true, nil
	}
	answer, err := send(ctx, client, d, req, show)
	if r.MaxTokens > 0 && limitUnknown(err) {
		req = request(m.opts.Model, llm.Request{Messages: r.Messages, Tools: r.Tools})
		req.MaxCompletionTokens = r.MaxTokens
		if m.opts.Whole {
			req.StreamOptions = nil
		}
		answer, err = send(ctx, client, d, req, show)
	}
	return answer, err
}

func send(ctx context.Context, client *api.Client, d *doer, req api.ChatCompletionRequest, show func(string)) (llm.Message, error) {
	if d.whole {
		resp, err := client.CreateChatCompletion(ctx, req)
		if err != nil {
			return llm.Message{}, err
		}
		return whole(&resp, show)
	}
	stream, err := client.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return llm.Message{}, err
	}
	defer func() { _ = stream.Close() }() // everything that counts was read
	return assemble(stream, d, show)
}

// request is r as the service reads it.
func request(model string, r llm.Request) api.ChatCompletionRequest {
	out := api.ChatCompletionRequest{Model: model, StreamOptions: &api.StreamOptions{IncludeUsage: true}}
	out.MaxTokens = r.MaxTokens //nolint:staticcheck // the name that all services know; see limitUnknown for those with the new one only
	for _, m := range r.Messages {
		msg := api.ChatCompletionMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, api.ToolCall{
				ID: c.ID, Type: api.ToolTypeFunction, Function: api.FunctionCall{Name: c.Name, Arguments: object(c.Arguments)},
			})
		}
		out.Messages = append(out.Messages, msg)
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, api.Tool{Type: api.ToolTypeFunction, Function: &api.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	return out
}

// hide takes the key out of a text that is about to be shown.
func (m *Model) hide(text string) string {
	if key := m.opts.Key(); key != "" {
		text = strings.ReplaceAll(text, key, "***")
	}
	return text
}

// excerpt is a foreign text on one line, cut to what one reads, without the key.
func (m *Model) excerpt(text any) string {
	words := strings.Join(strings.Fields(m.hide(fmt.Sprint(text))), " ")
	runes := []rune(strings.TrimRight(words, ".")) // it becomes part of a sentence
	if len(runes) > maxExcerpt {
		return string(runes[:maxExcerpt]) + "…"
	}
	return string(runes)
}

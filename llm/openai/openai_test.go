package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/llm/llmtest"
	"github.com/maishell/maishell/texts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-very-secret-0123456789"

// ask runs one request against a service that follows the script.
func ask(t *testing.T, steps ...llmtest.Step) (got llm.Message, shown string, err error, srv *llmtest.Server) { //nolint:staticcheck // err belongs to got
	t.Helper()
	srv = llmtest.New(steps...)
	t.Cleanup(srv.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	m, err := New(Options{
		BaseURL: srv.URL + "/", Model: "m", Key: func() string { return secret }, Timeout: 20 * time.Second,
		HTTPClient: &http.Client{Transport: transport},
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	got, err = m.Complete(t.Context(), llm.Request{Messages: []llm.Message{
		{Role: "system", Content: "s"}, {Role: "user", Content: "u"},
		{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: "x", Arguments: `{"a":`}, {ID: "2", Name: "x"}, {ID: "3", Name: "x", Arguments: ` {"a": 1}`}}},
		{Role: "tool", ToolCallID: "1", Content: "r"},
	}, Tools: []llm.ToolSpec{{Name: "x", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}}},
		func(s string) { b.WriteString(s) })
	return got, b.String(), err, srv
}

func sse(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

func choice(delta, finish string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	zero := 0
	big := strings.Repeat("0123456789", 100)
	for _, c := range []struct {
		name  string
		step  llmtest.Step
		text  string
		calls []llm.ToolCall
		cut   bool
	}{
		{name: "text", step: llmtest.Step{Text: "hello 世界, how are you?"}, text: "hello 世界, how are you?"},
		{name: "empty", step: llmtest.Step{}},
		{name: "length", step: llmtest.Step{Text: "half", Finish: "length"}, text: "half", cut: true},
		{name: "reasoning field", step: llmtest.Step{Reasoning: "let me think", Text: "42"}, text: "42"},
		{name: "think block", step: llmtest.Step{Text: "\n<think>\nsecret </thin thoughts\n</think>\n\nThe answer"}, text: "The answer"},
		{name: "two think blocks", step: llmtest.Step{Text: "<think>a</think> <think>b</think>ok"}, text: "ok"},
		{name: "only thinking", step: llmtest.Step{Text: "<think>and so on"}},
		{name: "no think block", step: llmtest.Step{Text: "<thing> is not <think>"}, text: "<thing> is not <think>"},
		{name: "part of the mark", step: llmtest.Step{Text: "<th"}, text: "<th"},
		{name: "one call", step: llmtest.Step{Calls: []llmtest.Call{{ID: "a", Name: "x", Arguments: `{"k":"` + big + `"}`}}},
			calls: []llm.ToolCall{{ID: "a", Name: "x", Arguments: `{"k":"` + big + `"}`}}},
		{name: "calls without ids", step: llmtest.Step{Text: "on it", Calls: []llmtest.Call{{Name: "x", Arguments: "{}"}, {Name: "y"}}},
			text: "on it", calls: []llm.ToolCall{{Name: "x", Arguments: "{}"}, {Name: "y"}}},
		{name: "every call has index 0", step: llmtest.Step{Calls: []llmtest.Call{{ID: "a", Name: "x", Arguments: "{}", Index: &zero}, {ID: "b", Name: "x", Arguments: "[1]", Index: &zero}}},
			calls: []llm.ToolCall{{ID: "a", Name: "x", Arguments: "{}"}, {ID: "b", Name: "x", Arguments: "[1]"}}},
		{name: "several calls in one piece, interleaved", step: llmtest.Step{Raw: sse(
			choice(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}},{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}]}`, "null"),
			choice(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":":1}"}}]}`, `"tool_calls"`), "[DONE]")},
			calls: []llm.ToolCall{{ID: "a", Name: "x", Arguments: `{"k":1}`}, {ID: "b", Name: "y", Arguments: "{}"}}},
		{name: "no index at all", step: llmtest.Step{Raw: sse(
			choice(`{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{"}}]}`, "null"),
			choice(`{"tool_calls":[{"function":{"arguments":"}"}}]}`, "null"),
			choice(`{"tool_calls":[{"function":{"name":"y","arguments":"{}"}}]}`, "null"), "[DONE]")},
			calls: []llm.ToolCall{{ID: "a", Name: "x", Arguments: "{}"}, {Name: "y", Arguments: "{}"}}},
		{name: "no finish reason, comments, last line without newline", step: llmtest.Step{
			Raw: strings.Repeat(": keep-alive\n\n", 1000) + sse(choice(`{"content":"ok"}`, "null")) + "data: [DONE]"}, text: "ok"},
		{name: "finish reason, no mark", step: llmtest.Step{Raw: sse(choice(`{"content":"ok"}`, `"stop"`))}, text: "ok"},
		{name: "in one piece", step: llmtest.Step{Body: `{"choices":[{"index":0,"message":{"role":"assistant","content":"whole","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"error":null}`},
			text: "whole", calls: []llm.ToolCall{{ID: "a", Name: "x", Arguments: "{}"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, shown, err, srv := ask(t, c.step)
			if err != nil {
				t.Fatal(err)
			}
			if got.Content != c.text || shown != c.text || got.Role != "assistant" || got.Truncated != c.cut {
				t.Errorf("got %+v, shown %q", got, shown)
			}
			if !slices.Equal(got.ToolCalls, c.calls) {
				t.Errorf("calls %+v, want %+v", got.ToolCalls, c.calls)
			}
			r := srv.Seen()[0]
			if r.Key != secret || !r.Stream || r.Model != "m" || len(r.Tools) != 1 || len(r.Messages) != 4 {
				t.Errorf("request %+v", r)
			}
			for i, want := range []string{`{"malformed_arguments":"{\"a\":"}`, `{}`, `{"a": 1}`} {
				if got := r.Messages[2].ToolCalls[i].Function.Arguments; got != want {
					t.Errorf("arguments %q, want %q", got, want)
				}
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	got, _, err, _ := ask(t, llmtest.Step{Text: "x", Usage: 41})
	if err != nil || got.Usage.Total() != 42 {
		t.Errorf("usage %+v, err %v", got.Usage, err)
	}
}

// TestUnseenThinking is a block whose opening mark was part of the prompt.
func TestUnseenThinking(t *testing.T) {
	t.Parallel()
	got, _, err, _ := ask(t, llmtest.Step{Text: "hm, so\n</think>\n\nyes"})
	if err != nil || got.Content != "yes" {
		t.Errorf("%q %v", got.Content, err)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	ok := llmtest.Step{Text: "done"}
	for name, first := range map[string]llmtest.Step{
		"429":              {Status: 429, After: "0", Body: `{"error":{"message":"slow down"}}`},
		"503 page":         {Status: 503, Type: "text/html", Body: "<h1>down</h1>", After: "0"},
		"cut at once":      {Cut: true, Raw: ": hello\n\n", After: "0"},
		"cut in a call":    {Cut: true, Calls: []llmtest.Call{{ID: "a", Name: "x", Arguments: `{"command":"rm`}}, After: "0"},
		"cut when thought": {Cut: true, Reasoning: "well", After: "0"},
		"no mark":          {Raw: sse(choice(`{"tool_calls":[{"index":0,"function":{"name":"x","arguments":"{"}}]}`, "null")), After: "0"},
		"error in stream":  {Raw: sse(`{"error":{"message":"overloaded"}}`), After: "0"},
		"finish error":     {Raw: sse(choice(`{}`, `"error"`)), After: "0"},
		"empty choices":    {Body: `{"choices":[]}`, After: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, shown, err, srv := ask(t, first, ok)
			if err != nil || got.Content != "done" || shown != "done" || len(got.ToolCalls) != 0 || len(srv.Seen()) != 2 {
				t.Errorf("got %+v, shown %q, err %v, %d requests", got, shown, err, len(srv.Seen()))
			}
		})
	}
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	t.Parallel()
	_, _, err, srv := ask(t, llmtest.Step{Status: 429, After: "1"}, llmtest.Step{Text: "done"})
	seen := srv.Seen()
	if err != nil || len(seen) != 2 || seen[1].At.Sub(seen[0].At) < time.Second {
		t.Errorf("err %v, %d requests", err, len(seen))
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	say, err := texts.New("en")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		step     llmtest.Step
		words    string
		requests int
		overflow bool
	}{
		{"bad key", llmtest.Step{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + secret + `"}}`}, "does not accept the key (401): Incorrect API key provided: ***", 1, false},
		{"no model", llmtest.Step{Status: 404, Body: `{"error":{"message":"no such model"}}`}, "no model m at 127.0.0.1", 1, false},
		{"bad request", llmtest.Step{Status: 400, Body: `{"error":{"message":"bad tools"}}`}, "answered 400: bad tools", 1, false},
		{"overflow by code", llmtest.Step{Status: 400, Body: `{"error":{"message":"x","code":"context_length_exceeded"}}`}, "longer than", 1, true},
		{"overflow by words", llmtest.Step{Status: 500, Body: `{"error":{"message":"the request exceeds the available context size"}}`}, "longer than", 1, true},
		{"overflow in the stream", llmtest.Step{Raw: sse(`{"error":{"message":"This model's maximum context length is 8192 tokens"}}`)}, "longer than", 1, true},
		{"no quota", llmtest.Step{Status: 429, Body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`}, "exceeded your current quota", 1, false},
		{"a long wait", llmtest.Step{Status: 429, After: "3600"}, "busy", 1, false},
		{"html page", llmtest.Step{Type: "text/html", Body: "<html><style>x{}</style><h1>Welcome to  nginx</h1> " + secret}, "answered with text/html", 1, false},
		{"no json", llmtest.Step{Body: "hello " + secret}, "JSON that cannot be read", 1, false},
		{"no stream", llmtest.Step{Raw: sse("this is no json")}, "cannot be read", 1, false},
		{"shown, then cut", llmtest.Step{Text: "a long enough text", Cut: true}, "cut off", 1, false},
		{"filtered", llmtest.Step{Finish: "content_filter"}, "content filter", 1, false},
		{"refused in the stream", llmtest.Step{Raw: sse(`{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}`)}, "refused the request: Incorrect API key", 1, false},
		{"error that is no object", llmtest.Step{Status: 500, After: "0", Body: `{"error":"TypeError","message":"cannot read","status":500}`}, "answered 500: cannot read", 4, false},
		{"in vain", llmtest.Step{Status: 500, After: "0"}, "answered 500", 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err, srv := ask(t, c.step, c.step, c.step, c.step, c.step)
			words := say.Error(err)
			if err == nil || !strings.Contains(words, c.words) || len(srv.Seen()) != c.requests || errors.Is(err, llm.ErrContextTooLong) != c.overflow {
				t.Errorf("err %v, words %q, %d requests", err, words, len(srv.Seen()))
			}
			if strings.Contains(err.Error()+words, secret) {
				t.Errorf("the key is shown: %v", err)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	m, err := New(Options{BaseURL: "http://user:" + secret + "@127.0.0.1:1/v1", Model: "m", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Complete(t.Context(), llm.Request{}, nil); err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "llm.unreachable") {
		t.Errorf("%v", err)
	}
	if _, err := New(Options{}); err == nil {
		t.Error("a model without a name")
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(llmtest.Step{Wait: make(chan struct{})}, llmtest.Step{Wait: make(chan struct{})}, llmtest.Step{Status: 429, After: "5"})
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	m, err := New(Options{BaseURL: srv.URL, Model: "m", Timeout: 50 * time.Millisecond, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	var e *llm.Error
	if _, err := m.Complete(t.Context(), llm.Request{}, nil); !errors.As(err, &e) || e.Code != "llm.timeout" {
		t.Errorf("timeout: %v", err)
	}
	m.opts.Timeout = time.Minute
	for i := range 2 { // in the request, then in the pause
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for len(srv.Seen()) < i+2 {
				runtime.Gosched()
			}
			cancel()
		}()
		start := time.Now()
		if _, err := m.Complete(ctx, llm.Request{}, nil); !errors.Is(err, context.Canceled) || time.Since(start) > 4*time.Second {
			t.Errorf("cancelled: %v after %v", err, time.Since(start))
		}
		cancel()
	}
}

// TestThinkingInPieces holds that the filter gives the same whatever the pieces are.
func TestThinkingInPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"<think>", "</think>", "<", "think", ">", "</", " ", "\n", "a", "世"})).Draw(t, "parts")
		run := func(pieces []string) string {
			var f thinking
			out := ""
			for _, p := range pieces {
				out += f.pass(p)
			}
			return out + f.rest()
		}
		text := strings.Join(parts, "")
		if whole, cut := run([]string{text}), run(parts); whole != cut {
			t.Fatalf("%q: whole %q, in pieces %q", text, whole, cut)
		}
	})
}

// TestWhole asks for answers in one piece.
func TestWhole(t *testing.T) {
	t.Parallel()
	call := `{"choices":[{"index":0,"message":{"role":"assistant","content":"<think>x</think> on it","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"y"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`
	srv := llmtest.New(llmtest.Step{Body: `{"choices":[]}`, After: "0"}, llmtest.Step{Body: call}, llmtest.Step{Type: "text/html", Body: "<h1>hello</h1>"},
		llmtest.Step{Status: 400, Body: `{"error":{"message":"x","code":"context_length_exceeded"}}`}, llmtest.Step{Body: "no json"})
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	m, err := New(Options{BaseURL: srv.URL, Model: "m", Whole: true, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	got, err := m.Complete(t.Context(), llm.Request{}, func(s string) { shown += s })
	want := []llm.ToolCall{{ID: "a", Name: "x", Arguments: "{}"}, {ID: "b", Name: "y"}}
	if err != nil || got.Content != "on it" || shown != "on it" || !slices.Equal(got.ToolCalls, want) || got.Usage.Total() != 7 || srv.Seen()[0].Stream {
		t.Errorf("%+v %v", got, err)
	}
	for _, want := range []string{"llm.not_a_stream", llm.ErrContextTooLong.Error(), "llm.not_a_stream"} {
		if _, err := m.Complete(t.Context(), llm.Request{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestNoKind is a service that does not say what it sends.
func TestNoKind(t *testing.T) {
	t.Parallel()
	m, err := New(Options{BaseURL: "http://x", Model: "m", HTTPClient: &http.Client{Transport: canned(sse(choice(`{"content":"x"}`, `"stop"`)))}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Complete(t.Context(), llm.Request{}, nil); err != nil || got.Content != "x" {
		t.Errorf("%+v %v", got, err)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(sse(choice(`{"content":"x"}`, `"stop"`), "[DONE]"))
	f.Add(sse(choice(`{"tool_calls":[{"index":-1,"function":{"name":"x"}}]}`, "null"), `{"error":{"message":"x"}}`))
	f.Add("event: x\ndata\ndata:{}\n: y")
	f.Fuzz(func(t *testing.T, stream string) {
		m, err := New(Options{BaseURL: "http://x", Model: "m", Retries: -1, HTTPClient: &http.Client{Transport: canned(stream)}})
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		got, err := m.Complete(t.Context(), llm.Request{}, func(s string) { shown += s })
		if err == nil && withoutThinking(shown) != got.Content {
			t.Fatalf("shown %q, got %q", shown, got.Content)
		}
	})
}

type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: both{strings.NewReader(string(c)), http.NoBody}}, nil
}

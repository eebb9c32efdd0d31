package openai

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/llm/llmtest"
)

// TestHostile is what a broken service sends, or one that means harm: an answer that can be used, or one error, and never
// the same again when it would be as bad.
func TestHostile(t *testing.T) {
	t.Parallel()
	piece := func(index, id, name, args string) string {
		return fmt.Sprintf(`{"index":%s,"id":%q,"function":{"name":%q,"arguments":%q}}`, index, id, name, args)
	}
	in := func(pieces ...string) string { return `{"tool_calls":[` + strings.Join(pieces, ",") + `]}` }
	thousand := make([]string, 1000)
	for i := range thousand {
		thousand[i] = piece(fmt.Sprint(i), fmt.Sprint("c", i), "x", "{}")
	}
	big := strings.Repeat("x", 10<<20)
	for _, c := range []struct {
		name string
		step llmtest.Step
		want string // text and calls, or the code of the error
	}{
		{"10 MB of arguments in one line", llmtest.Step{Raw: sse(choice(in(piece("0", "a", "x", big)), `"tool_calls"`))}, "llm.too_big"},
		{"10 MB of arguments in pieces", llmtest.Step{Raw: strings.Repeat(sse(choice(in(piece("0", "a", "x", big[:1<<20])), "null")), 10)}, "llm.too_big"},
		{"10 MB of text", llmtest.Step{Raw: strings.Repeat(sse(choice(`{"content":"`+big[:1<<20]+`"}`, "null")), 10)}, "llm.too_big"},
		{"a line without an end", llmtest.Step{Raw: "data: " + big}, "llm.too_big"},
		{"a huge answer in one piece", llmtest.Step{Body: `{"x":"` + big + `"}`}, "llm.too_big"},
		{"a name without an end", llmtest.Step{Raw: strings.Repeat(sse(choice(in(piece("0", "a", "x", "")), "null")), 2) + sse(choice(in(piece("0", "", big[:9000], "{}")), `"tool_calls"`))}, "[x" + big[:256] + " {}]"},
		{"a long id", llmtest.Step{Raw: sse(choice(in(piece("0", big[:9000], "x", "{}")), `"tool_calls"`))}, "[x {}]"},
		{"1000 calls", llmtest.Step{Raw: sse(choice(in(thousand...), `"tool_calls"`))}, "llm.too_many_calls [128]"},
		{"duplicate ids", llmtest.Step{Raw: sse(choice(in(piece("0", "a", "x", "1"), piece("1", "a", "y", "2")), `"tool_calls"`))}, "[x 1][y 2]"},
		{"gaps in the index", llmtest.Step{Raw: sse(choice(in(piece("7", "a", "x", "1"), piece("-3", "b", "y", "2"), piece("2000000000", "c", "z", "3")), `"tool_calls"`))}, "[x 1][y 2][z 3]"},
		{"calls of nothing", llmtest.Step{Raw: sse(choice(in(piece("0", "a", "", "{}")), `"tool_calls"`)), After: "0"}, "llm.no_answer"},
		{"null choices", llmtest.Step{Body: `{"choices":[null]}`}, ""},
		{"no choices", llmtest.Step{Raw: sse(`{"choices":null}`, `{}`, "[DONE]"), After: "0"}, "llm.no_answer"},
		{"a null delta", llmtest.Step{Raw: sse(choice(`null`, `"stop"`))}, ""},
		{"not UTF-8", llmtest.Step{Raw: sse(choice("{\"content\":\"a\xff\xfe\",\"tool_calls\":["+"{\"index\":0,\"function\":{\"name\":\"x\xff\",\"arguments\":\"\xc0\"}}]}", `"stop"`))}, "a\uFFFD\uFFFD[x\uFFFD \uFFFD]"},
		{"half of a surrogate pair", llmtest.Step{Raw: sse(choice(`{"content":"\ud83d"}`, `"stop"`))}, "\uFFFD"},
		{"the mark of the end in the text, then cut", llmtest.Step{Raw: "data: " + choice(`{"content":"data: [DONE]"}`, "null") + "\n", Cut: true, After: "0"}, "llm.cut"},
		{"200, an error", llmtest.Step{Body: `{"error":{"message":"no credit","code":"insufficient_quota"}}`}, "llm.broke_off [no credit]"},
		{"200, an error in words", llmtest.Step{Body: `{"error":"model not loaded"}`, After: "0"}, "llm.broke_off [model not loaded]"},
		{"200, an error without words", llmtest.Step{Body: `{"error":{"code":5}}`, After: "0"}, `llm.broke_off [{"code":5}]`},
		{"200, something else", llmtest.Step{Body: `{"detail":"Not Found"}`}, "llm.not_a_stream [JSON Not Found]"},
		{"thinking", llmtest.Step{Text: "<thinking>a</think> b</thinking>ok"}, "ok"},
		{"thought", llmtest.Step{Text: "<thought>a</thought>ok"}, "ok"},
		{"reasoning", llmtest.Step{Text: " <reasoning>a</reasoning>\n<think>b</think>ok"}, "ok"},
		{"nothing but blanks", llmtest.Step{Text: strings.Repeat(" ", 2*maxBlank) + "<"}, strings.Repeat(" ", 2*maxBlank) + "<"},
		{"an error of many lines", llmtest.Step{Status: 400, Body: `{"error":{"message":"` + big[:1<<20] + `"}}`}, "llm.refused [400 " + `{"error":{"message":"` + big[:279] + "…]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			got, _, err, _ := ask(t, c.step, c.step, c.step, c.step)
			text := got.Content
			for _, call := range got.ToolCalls {
				text += "[" + call.Name + " " + call.Arguments + "]"
			}
			if err != nil {
				text = err.Error()
			}
			if text != c.want || !utf8.ValidString(text) {
				t.Errorf("got %.400q, want %.400q", text, c.want)
			}
			if took := time.Since(begun); took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestEndless is a stream that never ends: its length is bounded, and so is what is kept of it.
func TestEndless(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	for name, line := range map[string]string{
		"reasoning": "data: " + choice(`{"reasoning_content":"`+strings.Repeat("hm ", 10_000)+`"}`, "null") + "\n\n",
		"comments":  ":" + strings.Repeat(" ", 30_000) + "\n",
		"thinking":  "data: " + choice(`{"content":"<think>`+strings.Repeat("hm ", 10_000)+`"}`, "null") + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				w.Header().Set("Content-Type", "text/event-stream")
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, line); err != nil {
						return
					}
				}
			}))
			defer srv.Close()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			m, err := New(Options{BaseURL: srv.URL, Model: "m", HTTPClient: &http.Client{Transport: transport}})
			if err != nil {
				t.Fatal(err)
			}
			var e *llm.Error
			if _, err := m.Complete(t.Context(), llm.Request{}, nil); !errors.As(err, &e) || e.Code != "llm.too_big" {
				t.Errorf("%v", err)
			}
		})
	}
	t.Cleanup(func() {
		if n := requests.Load(); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestManyPieces holds that the work grows with the size of an answer, not with its square.
func TestManyPieces(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a second")
	}
	const n = 200_000
	one := sse(choice(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"0123456789"}}]}`, "null"))
	m, err := New(Options{BaseURL: "http://x", Model: "m", Retries: -1, HTTPClient: &http.Client{Transport: canned(strings.Repeat(one, n) + sse("[DONE]"))}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := m.Complete(t.Context(), llm.Request{}, nil)
	runtime.ReadMemStats(&after)
	if err != nil || len(got.ToolCalls) != 1 || len(got.ToolCalls[0].Arguments) != 10*n {
		t.Fatalf("%d calls, %v", len(got.ToolCalls), err)
	}
	// Glued together piece by piece it would be 200 GB.
	if made := after.TotalAlloc - before.TotalAlloc; made > 4<<30 {
		t.Errorf("%d MiB were allocated", made>>20)
	}
}

// TestRedirects: what is sent is for the configured service alone.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	defer other.Close()
	for name, c := range map[string]struct{ to, want string }{
		"another port": {other.URL + "/v1/chat/completions", "llm.redirected"},
		"another name": {strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/x?" + secret, "llm.redirected"},
		"a loop":       {"/again", "llm.redirected"},
		"within":       {"/v1/chat/completions", ""},
	} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			if name == "within" && status == http.StatusFound {
				continue // makes a GET of it
			}
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				var asked atomic.Int32
				front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/v1/chat/completions" {
						_, _ = io.WriteString(w, sse(choice(`{"content":"here"}`, `"stop"`)))
						return
					}
					asked.Add(1)
					http.Redirect(w, r, c.to, status)
				}))
				defer front.Close()
				transport := &http.Transport{}
				defer transport.CloseIdleConnections()
				m, err := New(Options{BaseURL: front.URL, Model: "m", Key: func() string { return secret }, HTTPClient: &http.Client{Transport: transport}})
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Complete(t.Context(), llm.Request{}, nil)
				if c.want == "" {
					if err != nil || got.Content != "here" {
						t.Errorf("%+v %v", got, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
					t.Errorf("%v", err)
				}
				if n := asked.Load(); n > 6 {
					t.Errorf("asked %d times", n)
				}
			})
		}
	}
	if leaked.Load() != 0 {
		t.Error("the conversation was sent to another host")
	}
}

// TestMaxTokens is sent by the name that the service knows.
func TestMaxTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model string
		old   bool // the service does not know the newer name
		want  string
	}{
		"older":         {"m", true, "max_tokens"},
		"newer":         {"m", false, "max_tokens max_completion_tokens"},
		"known to need": {"gpt-5-mini", false, "max_completion_tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body) // an empty one fails below
				for _, field := range []string{"max_tokens", "max_completion_tokens"} {
					if strings.Contains(string(body), `"`+field+`":77`) {
						seen = append(seen, field)
					}
				}
				if !c.old && strings.Contains(string(body), `"max_tokens"`) {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`)
					return
				}
				_, _ = io.WriteString(w, sse(choice(`{"content":"ok"}`, `"stop"`)))
			}))
			defer srv.Close()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			m, err := New(Options{BaseURL: srv.URL, Model: c.model, Retries: -1, HTTPClient: &http.Client{Transport: transport}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Complete(t.Context(), llm.Request{MaxTokens: 77}, nil)
			if err != nil || got.Content != "ok" || strings.Join(seen, " ") != c.want {
				t.Errorf("%+v %v, sent %q", got, err, seen)
			}
		})
	}
}

package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Call is a tool call that the service makes. ID and Index may be left out.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Index     *int   `json:"index"`
}

// Step is the answer to one request. The zero step is an empty text.
type Step struct {
	// Expect is a regular expression that the last message of the request must match; empty: anything.
	Expect string `json:"expect"`
	// History is a regular expression that the whole request must match, written as Request.String does.
	History   string `json:"history"`
	Text      string `json:"text"`
	Reasoning string `json:"reasoning"`
	Calls     []Call `json:"calls"`
	Finish    string `json:"finish"` // empty: stop, or tool_calls
	Cut       bool   `json:"cut"`    // the connection is closed before the end
	Status    int    `json:"status"` // other than 0 and 200: Body is the answer
	Body      string `json:"body"`
	Type      string `json:"type"`        // of Body; empty: application/json
	After     string `json:"retry_after"` // header
	Raw       string `json:"raw"`         // the whole stream, in place of everything above
	// Wait holds the answer back until it is closed or the client has gone.
	Wait <-chan struct{} `json:"-"`
	// Usage is told at the end when it is not 0.
	Usage int `json:"usage"`
}

// Message is one message of a request.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// Request is what the service was asked.
type Request struct {
	Key      string    // as the header had it
	At       time.Time // when it came
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Messages []Message `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// Last is the content of the last message.
func (r *Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// String is the conversation without the system prompt, one message a line: its role, its content, [name arguments] of
// each call.
func (r *Request) String() string {
	var b strings.Builder
	for _, m := range r.Messages {
		if m.Role == "system" {
			continue
		}
		b.WriteString(m.Role + " " + strings.ReplaceAll(m.Content, "\n", " "))
		for _, c := range m.ToolCalls {
			b.WriteString(" [" + c.Function.Name + " " + c.Function.Arguments + "]")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Server is the service.
type Server struct {
	// URL is its base URL.
	URL string

	http *httptest.Server
	mu   sync.Mutex
	todo []Step
	seen []Request
}

// New starts a service on loopback. Close it.
func New(steps ...Step) *Server {
	s := &Server{todo: steps}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL + "/v1"
	return s
}

// Script reads steps from lines of JSON; blank lines and those that begin with # do not count.
func Script(text string) ([]Step, error) {
	var steps []Step
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var s Step
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("step %q: %w", line, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// Close ends the service and every answer it holds back.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Add appends steps.
func (s *Server) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.todo = append(s.todo, steps...)
}

// Seen are the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// Left is the number of steps that were not taken.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.todo)
}

// ServeHTTP answers with the next step.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	req := Request{Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), At: time.Now()}
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		http.Error(w, fmt.Sprintf("llmtest: not a request: %s %s: %v", r.Method, r.URL.Path, err), http.StatusBadRequest)
		return
	}
	step := s.next(req)
	if step.Wait != nil {
		select {
		case <-step.Wait:
		case <-r.Context().Done():
			return
		}
	}
	step.answer(w)
}

func (s *Server) next(req Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, req)
	if len(s.todo) == 0 {
		return Step{Text: "UNEXPECTED: the script has ended; asked: " + req.Last()}
	}
	step := s.todo[0]
	s.todo = s.todo[1:]
	for text, want := range map[string]string{req.Last(): step.Expect, req.String(): step.History} {
		if ok, err := regexp.MatchString(want, text); !ok || err != nil {
			return Step{Text: fmt.Sprintf("UNEXPECTED: %q does not match %q", text, want)}
		}
	}
	return step
}

func (s *Step) answer(w http.ResponseWriter) {
	if s.After != "" {
		w.Header().Set("Retry-After", s.After)
	}
	if s.Status != 0 && s.Status != http.StatusOK || s.Body != "" {
		kind := s.Type
		if kind == "" {
			kind = "application/json"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(max(s.Status, http.StatusOK))
		_, _ = io.WriteString(w, s.Body) // a client that went away is what some tests are about
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) {
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	if s.Raw != "" {
		send(s.Raw)
	} else {
		s.stream(send)
	}
	if s.Cut {
		panic(http.ErrAbortHandler) // closes the connection without the end of the body
	}
}

// stream sends the answer in small pieces, as services do.
func (s *Step) stream(send func(string)) {
	event := func(v map[string]any) {
		line, err := json.Marshal(v)
		if err != nil {
			line = []byte(err.Error())
		}
		send("data: " + string(line) + "\n\n")
	}
	delta := func(d map[string]any) {
		event(map[string]any{"object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": d}}})
	}
	delta(map[string]any{"role": "assistant"})
	for _, p := range pieces(s.Reasoning) {
		delta(map[string]any{"reasoning_content": p})
	}
	for _, p := range pieces(s.Text) {
		delta(map[string]any{"content": p})
	}
	for i, c := range s.Calls {
		if c.Index == nil {
			c.Index = &i
		}
		delta(map[string]any{"tool_calls": []any{map[string]any{
			"index": *c.Index, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}}})
		for _, p := range pieces(c.Arguments) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": *c.Index, "function": map[string]any{"arguments": p}}}})
		}
	}
	if s.Cut {
		return
	}
	finish := s.Finish
	if finish == "" {
		finish = "stop"
		if len(s.Calls) > 0 {
			finish = "tool_calls"
		}
	}
	event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}})
	if s.Usage > 0 {
		event(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": s.Usage, "completion_tokens": 1}})
	}
	send("data: [DONE]\n\n")
}

// pieces cuts a text into a few pieces between characters.
func pieces(text string) []string {
	const size = 7
	var out []string
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(size, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

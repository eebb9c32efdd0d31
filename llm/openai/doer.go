package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	api "github.com/sashabaranov/go-openai"
)

// Bounds of what a service may send, in bytes.
const (
	maxErrorBody = 64 << 10
	maxStream    = 64 << 20 // every token comes in some 200 bytes of its own
	maxPiece     = 8 << 20  // one line of a stream, or an answer that comes in one piece
)

// errTooBig: the service sent more than anybody could use. It would do so again.
var errTooBig = errors.New("the answer is too big")

// doer sends one request, keeps what the library does not pass on, and bounds the answer.
type doer struct {
	client     *http.Client
	whole      bool // the answer is wanted in one piece
	retryAfter string
	body       *watched
}

// redirected: the service wants the conversation, and the key, sent elsewhere.
type redirected struct{ to string }

func (e *redirected) Error() string { return "the service sends on to " + e.to }

// stay follows a redirect only within the service that was configured: what is sent is not for anybody else.
func stay(req *http.Request, via []*http.Request) error {
	const maxHops = 5
	if from := via[0].URL; len(via) > maxHops || req.URL.Scheme != from.Scheme || req.URL.Host != from.Host {
		return &redirected{to: req.URL.Scheme + "://" + req.URL.Host}
	}
	return nil
}

// notAStream is an answer of a kind that cannot be one.
type notAStream struct {
	kind string
	text string
}

func (e *notAStream) Error() string { return "the service answered with " + e.kind }

// Do sends the request.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	resp, err := d.client.Do(req) //nolint:bodyclose // the library closes it, or this function does
	if err != nil {
		return nil, err
	}
	d.retryAfter = resp.Header.Get("Retry-After")
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		resp.Body = both{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
		return resp, nil
	}
	// Services that name no kind, or not well, may still send a stream.
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case strings.Contains(kind, "html"), strings.Contains(kind, "xml"):
		head, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // an excerpt for the message, as far as it goes
		err = &notAStream{kind: kind, text: string(head)}
	case kind == "application/json", d.whole:
		err = d.single(resp)
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	if d.whole {
		return resp, nil // read already
	}
	d.body = &watched{in: resp.Body}
	resp.Body = both{io.MultiReader(&bounded{in: d.body, left: maxStream}, strings.NewReader("\n")), resp.Body}
	return resp, nil
}

// single reads an answer that came in one piece. When a stream was asked for, it becomes a stream of one piece.
func (d *doer) single(resp *http.Response) error {
	data, err := io.ReadAll(&bounded{in: resp.Body, left: maxPiece})
	if err != nil {
		return err
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(data, &body); err != nil {
		return &notAStream{kind: "JSON that cannot be read", text: clipped(data)}
	}
	switch raw, ok := body["error"]; {
	case !isNull(raw):
		return failureOf(raw)
	case !ok && isNull(body["choices"]):
		return &notAStream{kind: "JSON", text: clipped([]byte(wordsOf(data)))}
	}
	delete(body, "error")
	var choices []map[string]json.RawMessage
	if raw := body["choices"]; !isNull(raw) && json.Unmarshal(raw, &choices) != nil {
		return &notAStream{kind: "JSON that cannot be read", text: clipped(raw)}
	}
	_ = resp.Body.Close()
	if d.whole {
		resp.Body = io.NopCloser(bytes.NewReader(data))
		return nil
	}
	for _, c := range choices {
		if c != nil {
			c["delta"] = c["message"]
			delete(c, "message")
		}
	}
	if body["choices"], err = json.Marshal(choices); err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	line, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", line)))
	return nil
}

// failureOf is the error that a body with status 200 tells: services give an object, or only its words.
func failureOf(raw json.RawMessage) error {
	e := &api.APIError{}
	if json.Unmarshal(raw, e) != nil {
		e = &api.APIError{}
		if json.Unmarshal(raw, &e.Message) != nil {
			e.Message = wordsOf(raw)
		}
	}
	e.Message = cmp.Or(e.Message, clipped(raw))
	return e
}

func clipped(data []byte) string { return string(data[:min(len(data), maxErrorBody)]) }

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// finished tells whether the service said that its stream is complete. The mark within a model's text does not count.
func (d *doer) finished() bool {
	if d.body == nil {
		return false
	}
	for line := range bytes.Lines(d.body.tail) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok && string(bytes.TrimSpace(rest)) == "[DONE]" {
			return true
		}
	}
	return false
}

// bounded fails, in place of ending, when there is more than left, or a line longer than maxPiece.
type bounded struct {
	in   io.Reader
	left int
	line int // bytes since the last newline
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 || b.line > maxPiece {
		return 0, errTooBig
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		b.line = n - i - 1
	} else {
		b.line += n
	}
	return n, err
}

// watched remembers the end of what was read.
type watched struct {
	in   io.Reader
	tail []byte
}

// keepTail is enough for the mark that ends a stream, and blanks behind it, in bytes.
const keepTail = 64

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	w.tail = append(w.tail, p[max(0, n-keepTail):n]...)
	if extra := len(w.tail) - keepTail; extra > 0 {
		w.tail = append(w.tail[:0], w.tail[extra:]...)
	}
	return n, err
}

// both reads from one and closes the other.
type both struct {
	io.Reader
	io.Closer
}

package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// Bounds of what a service may send, in bytes.
const (
	maxErrorBody = 64 << 10
	maxAnswer    = 64 << 20
)

// doer sends one request, keeps what the library does not pass on, and bounds the answer.
type doer struct {
	client     *http.Client
	whole      bool // the answer is wanted in one piece
	retryAfter string
	body       *watched
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
	case kind == "application/json" && !d.whole:
		err = d.single(resp)
	case strings.Contains(kind, "html"), strings.Contains(kind, "xml"):
		head, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // an excerpt for the message, as far as it goes
		err = &notAStream{kind: kind, text: string(head)}
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	if d.whole {
		resp.Body = both{io.LimitReader(resp.Body, maxAnswer), resp.Body}
		return resp, nil
	}
	d.body = &watched{in: resp.Body}
	resp.Body = both{io.MultiReader(io.LimitReader(d.body, maxAnswer), strings.NewReader("\n")), resp.Body}
	return resp, nil
}

// single turns an answer that came in one piece, from a service that cannot stream, into a stream of one piece.
func (d *doer) single(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return &notAStream{kind: "JSON that cannot be read", text: string(data[:min(len(data), maxErrorBody)])}
	}
	var choices []map[string]json.RawMessage
	if raw, ok := whole["choices"]; ok {
		if err := json.Unmarshal(raw, &choices); err != nil {
			return &notAStream{kind: "JSON that cannot be read", text: string(raw[:min(len(raw), maxErrorBody)])}
		}
	}
	for _, c := range choices {
		c["delta"] = c["message"]
		delete(c, "message")
	}
	if whole["choices"], err = json.Marshal(choices); err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	if isNull(whole["error"]) {
		delete(whole, "error")
	} else {
		whole = map[string]json.RawMessage{"error": whole["error"]}
	}
	line, err := json.Marshal(whole)
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", line)))
	return nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// finished tells whether the service said that its stream is complete.
func (d *doer) finished() bool { return d.body != nil && bytes.Contains(d.body.tail, []byte("[DONE]")) }

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

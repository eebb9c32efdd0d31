package tools

import (
	"bytes"
	"encoding/json"

	"github.com/maishell/maishell/guard"
)

var _ guard.Shower = Result{}

// Shown is what post hooks see of a result: what the body shows by itself, else all of it as JSON text.
func (r Result) Shown() guard.Shown {
	var s guard.Shown
	if b, ok := r.Body.(guard.Shower); ok {
		s = b.Shown()
	} else if text, err := encode(reserve(r.Body)); err == nil {
		s.Text = string(text)
	}
	s.Status, s.ExitCode, s.Error = r.Status, r.Exit, r.Error
	return s
}

// WithShown returns the result with the hooks' texts. A changed text that is no JSON object becomes one with the key
// text; a note stands under the key note.
func (r Result) WithShown(s guard.Shown) any {
	if b, ok := r.Body.(guard.Shower); ok {
		r.Body = b.WithShown(s)
		return r
	}
	fields := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader([]byte(s.Text)))
	dec.UseNumber()
	if err := dec.Decode(&fields); err != nil || dec.More() || fields == nil {
		fields = map[string]any{"text": s.Text}
	}
	if s.Note != "" {
		fields["note"] = s.Note
	}
	r.Body = fields
	return r
}

// Blank returns the result with the facts alone.
func (r Result) Blank() any {
	out := Result{Status: r.Status, Rule: r.Rule, Exit: r.Exit}
	if b, ok := r.Body.(guard.Shower); ok {
		out.Body = b.Blank()
	}
	return out
}

package tools

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/maishell/maishell/guard"
)

// Result is what a tool gives back. It is written as one flat JSON object: success, status, error and rule when set,
// then Body's fields.
type Result struct {
	Status guard.Status
	Error  string // worded for people and models; empty when fine
	Rule   string // which rule or hook decided, when one did
	Body   any    // a struct or map that marshals to a JSON object, or nil; must not have the keys above
	Exit   *int   // the exit code for the audit record; not written
	// ErrorAlways writes the key error, as null, also when there is none.
	ErrorAlways bool
}

// Success is false only for statuses other than ok and running.
func (r Result) Success() bool {
	return r.Status == guard.StatusOK || r.Status == guard.StatusRunning
}

// head are the keys that every result has, in their order.
type head struct {
	Success bool         `json:"success"`
	Status  guard.Status `json:"status"`
	Error   string       `json:"error,omitempty"`
	Rule    string       `json:"rule,omitempty"`
}

// MarshalJSON writes the flat object.
func (r Result) MarshalJSON() ([]byte, error) { return r.JSON(), nil }

// JSON is the flat object as one line of valid UTF-8, without HTML escaping. A body that cannot be written as an object
// makes it an object with status internal.
func (r Result) JSON() []byte {
	h := head{Success: r.Success(), Status: r.Status, Error: r.Error, Rule: r.Rule}
	top := mustEncode(h)
	if r.ErrorAlways && r.Error == "" {
		top = append(top[:len(top)-1], `,"error":null}`...)
	}
	body, err := encode(reserve(r.Body))
	if err == nil && (bytes.Equal(body, []byte("null")) || bytes.Equal(body, []byte("{}"))) {
		return top
	}
	if err != nil || body[0] != '{' {
		return mustEncode(head{Status: guard.StatusInternal, Error: "the tool's result is not an object"})
	}
	top[len(top)-1] = ','
	return append(top, body[1:]...)
}

// reserve drops from a map body the keys that the pipeline itself answers for. Struct bodies are ours and have none.
func reserve(body any) any {
	m, ok := body.(map[string]any)
	if !ok {
		return body
	}
	clean := make(map[string]any, len(m))
	for k, v := range m {
		if k != "success" && k != "status" && k != "error" && k != "rule" {
			clean[k] = v
		}
	}
	return clean
}

// mustEncode is for head, which holds nothing that can fail.
func mustEncode(h head) []byte {
	b, err := encode(h)
	if err != nil {
		return []byte(`{"success":false,"status":"internal"}`)
	}
	return b
}

func encode(v any) ([]byte, error) {
	if v == nil || isNilPointer(v) {
		return []byte("null"), nil
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

func isNilPointer(v any) bool {
	rv := reflect.ValueOf(v)
	return rv.Kind() == reflect.Pointer && rv.IsNil()
}

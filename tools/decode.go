package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// MaxArgs is the largest size of a call's arguments as JSON text, in bytes.
const MaxArgs = 1 << 20

// maxDepth is how deep arguments may nest.
const maxDepth = 32

// decoder checks JSON text against a schema as schemaOf makes it and gives it back in normal form: compact, without
// duplicate keys, numbers as numbers. What it accepts, the schema accepts.
type decoder struct {
	schema  *jsonschema.Schema
	aliases map[string]string
}

func (d decoder) decode(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > MaxArgs {
		return nil, Invalid("tools.args_too_large", len(raw), MaxArgs)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	if i := invalidUTF8(raw); i >= 0 {
		return nil, Invalid("tools.args_not_utf8", i)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		offset := int64(len(raw))
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = syntax.Offset
		}
		return nil, Invalid("tools.args_not_json", offset, err)
	}
	whole = bytes.TrimSpace(whole)
	if whole[0] != '{' {
		return nil, Invalid("tools.args_not_object", show(whole))
	}
	if i, found := loneSurrogate(whole); found {
		return nil, Invalid("tools.args_surrogate", i)
	}
	return d.object(place{}, d.schema, whole)
}

// place is where in the arguments a value stands.
type place struct {
	path  string
	depth int
}

func (p place) key(k string) place {
	if p.path != "" {
		k = p.path + "." + k
	}
	return place{path: k, depth: p.depth + 1}
}

func (p place) index(i int) place {
	return place{path: p.path + "[" + strconv.Itoa(i) + "]", depth: p.depth + 1}
}

// name is how messages call the place.
func (p place) name() string { return Clip(p.path, 80) }

func (d decoder) value(p place, s *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, error) {
	if p.depth > maxDepth {
		return nil, Invalid("tools.arg_too_deep", p.name(), maxDepth)
	}
	if bytes.Equal(raw, []byte("null")) && s.Type != "" {
		return nil, Invalid("tools.arg_null", p.name(), want(s.Type))
	}
	got := kind(raw)
	switch s.Type {
	case "object":
		if got == "object" {
			return d.object(p, s, raw)
		}
	case "array":
		switch {
		case got == "array":
			return d.array(p, s, raw)
		case got == "string" && s.Items != nil && s.Items.Type == "string": // models often mean a list of one
			return d.array(p, s, slices.Concat([]byte{'['}, raw, []byte{']'}))
		}
	case "string":
		if got == "string" {
			return d.text(p, s, raw)
		}
	case "integer", "number":
		if got == "number" || got == "string" {
			return number(p, s, raw)
		}
	case "boolean":
		if got == "boolean" {
			return raw, nil
		}
	default:
		return d.free(p, raw)
	}
	return nil, Invalid("tools.arg_type", p.name(), want(s.Type), show(raw))
}

func (d decoder) object(p place, s *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, Invalid("tools.args_not_json", dec.InputOffset(), err)
	}
	out := []byte{'{'}
	seen := map[string]bool{}
	for dec.More() {
		key, v, err := member(dec)
		if err != nil {
			return nil, Invalid("tools.args_not_json", dec.InputOffset(), err)
		}
		at := p.key(key)
		if seen[key] {
			return nil, Invalid("tools.arg_twice", at.name())
		}
		seen[key] = true
		prop := s.Properties[key]
		if prop == nil {
			if prop = s.AdditionalProperties; closed(prop) {
				return nil, d.unknown(p, s, key, v)
			}
		}
		if v, err = d.value(at, orAny(prop), v); err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, err := encode(key)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), v...)
	}
	for _, key := range s.Required {
		if !seen[key] {
			return nil, Invalid("tools.arg_missing", p.key(key).name(), want(s.Properties[key].Type))
		}
	}
	return append(out, '}'), nil
}

// member reads the next key and value of an object whose syntax is known to be right.
func member(dec *json.Decoder) (string, json.RawMessage, error) {
	tok, err := dec.Token()
	if err != nil {
		return "", nil, err
	}
	key, _ := tok.(string)
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		return "", nil, err
	}
	return key, v, nil
}

func (d decoder) array(p place, s *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, Invalid("tools.args_not_json", 0, err)
	}
	out := []byte{'['}
	for i, item := range items {
		v, err := d.value(p.index(i), orAny(s.Items), item)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']'), nil
}

// free is a value that the schema leaves open: only its nesting and its keys are checked.
func (d decoder) free(p place, raw json.RawMessage) (json.RawMessage, error) {
	switch kind(raw) {
	case "object":
		return d.object(p, &jsonschema.Schema{Type: "object"}, raw)
	case "array":
		return d.array(p, &jsonschema.Schema{Type: "array"}, raw)
	}
	return raw, nil
}

func (d decoder) text(p place, s *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, error) {
	if s.Enum == nil {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, Invalid("tools.args_not_json", 0, err)
	}
	names := make([]string, 0, len(s.Enum))
	for _, v := range s.Enum {
		if v == text {
			return raw, nil
		}
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return nil, Invalid("tools.arg_enum", p.name(), strings.Join(names, ", "), show(raw))
}

func closed(s *jsonschema.Schema) bool { return s != nil && s.Not != nil }

func orAny(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return &jsonschema.Schema{}
	}
	return s
}

// kind is the JSON type of a value whose syntax is known to be right.
func kind(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// want says in words what a value of the type looks like.
func want(typ string) phrase {
	if typ == "" {
		typ = "any"
	}
	return say("tools.want_" + typ)
}

// show is a value as messages quote it: the start of its JSON text.
func show(raw json.RawMessage) string { return Clip(string(raw), 60) }

// Clip bounds s to n characters and replaces those that do not belong in a message.
func Clip(s string, n int) string {
	var b strings.Builder
	count := 0
	for _, r := range s {
		if count++; count > n {
			b.WriteString("…")
			break
		}
		if !strconv.IsPrint(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

package config

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed config.zh.toml
var chinese []byte

// Default returns the commented file with every setting at its default: lang "en" (defaults, the built-in file) or
// "zh".
func Default(lang string, defaults []byte) ([]byte, error) {
	switch lang {
	case "en":
		return bytes.Clone(defaults), nil
	case "zh":
		return bytes.Clone(chinese), nil
	}
	return nil, fmt.Errorf("unknown language %q: want en or zh", lang)
}

// Schema returns the JSON Schema of the file. Defaults and descriptions come from the built-in file.
func Schema(defaults []byte) ([]byte, error) {
	l, err := begin(defaults, func() string { return "" })
	if err != nil {
		return nil, err
	}
	comments := commentsOf(defaults)
	root := object("maishell configuration")
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	for _, f := range fields() {
		parent := root
		if section := strings.TrimSuffix(f.key, "."+f.name); section != f.key {
			if root.Properties[section] == nil {
				add(root, section, object(comments[section]))
			}
			parent = root.Properties[section]
		}
		s, err := f.schema(l.config.value(f))
		if err != nil {
			return nil, err
		}
		s.Description = comments[f.key]
		add(parent, f.name, s)
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema of the configuration: %w", err)
	}
	return out, nil
}

func object(description string) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:                 "object",
		Description:          description,
		Properties:           map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, // none
	}
}

func add(parent *jsonschema.Schema, name string, s *jsonschema.Schema) {
	parent.Properties[name] = s
	parent.PropertyOrder = append(parent.PropertyOrder, name)
}

func (f field) schema(value any) (*jsonschema.Schema, error) {
	def, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("default of %s: %w", f.key, err)
	}
	s := &jsonschema.Schema{Default: def}
	switch f.kind {
	case reflect.Int:
		s.Type = "integer"
	case reflect.Float64:
		s.Type = "number"
	case reflect.Bool:
		s.Type = "boolean"
	case reflect.Slice:
		s.Type = "array"
		s.Items = &jsonschema.Schema{Type: "string"}
	default:
		s.Type = "string"
	}
	if f.ranged {
		s.Minimum, s.Maximum = &f.min, &f.max
	}
	for _, e := range f.enum {
		s.Enum = append(s.Enum, e)
	}
	return s, nil
}

// commentsOf returns, by setting and section, the comment lines that stand directly above it.
func commentsOf(file []byte) map[string]string {
	out := map[string]string{}
	var lines []string
	section := ""
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "#"); ok {
			lines = append(lines, strings.TrimSpace(text))
			continue
		}
		comment := strings.Join(lines, " ")
		lines = nil
		if name, ok := strings.CutPrefix(line, "["); ok {
			name = strings.TrimSuffix(name, "]")
			section = name + "."
			out[name] = comment
		} else if key, _, ok := strings.Cut(line, "="); ok {
			out[section+strings.TrimSpace(key)] = comment
		}
	}
	return out
}

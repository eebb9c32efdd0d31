package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maishell/maishell/guard"
)

// Define makes a tool whose arguments are the struct A. Its schema comes from A: `json` gives the name (omitempty or
// omitzero: optional), `jsonschema` the description, `enum:"a,b"` the allowed texts (of a list: of its items),
// `min` and `max` the range of a number. The object is closed: other keys are errors.
//
// plan says what a call is about to do and must not do it; nil: the tool's effects alone. Tool, Args and, when left
// empty, Effects of the action are filled in. run does the work, inside the guard: the action it gets is the one that
// was checked and recorded, and it counts where it says more than the arguments. Both may return a *Fault or *guard.Refusal, which keep their status; any other error is reported as internal.
func Define[A any](t Tool, plan func(ctx context.Context, args A) (guard.Action, error), run func(ctx context.Context, args A, a guard.Action) (Result, error)) (Tool, error) {
	if err := checkSpec(t, run == nil); err != nil {
		return Tool{}, err
	}
	schema, err := schemaOf(reflect.TypeFor[A]())
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	t.Schema = schema
	if t.parameters, err = encode(schema); err != nil {
		return Tool{}, fmt.Errorf("tool %s: schema: %w", t.Name, err)
	}
	d := decoder{schema: schema, aliases: t.Aliases}
	t.decode = func(raw json.RawMessage) (any, json.RawMessage, error) {
		normal, err := d.decode(raw)
		if err != nil {
			return nil, nil, err
		}
		var args A
		if err := json.Unmarshal(normal, &args); err != nil {
			return nil, nil, &Fault{Status: guard.StatusInvalidArgument, Code: "tools.args_unusable", Args: []any{err}, Err: err}
		}
		return args, normal, nil
	}
	t.plan = func(ctx context.Context, args any) (guard.Action, error) {
		if plan == nil {
			return guard.Action{}, nil
		}
		return plan(ctx, args.(A))
	}
	t.run = func(ctx context.Context, args any, a guard.Action) (Result, error) { return run(ctx, args.(A), a) }
	return t, nil
}

func checkSpec(t Tool, noRun bool) error {
	switch {
	case !nameForm.MatchString(t.Name):
		return fmt.Errorf("tool name %q: want a lower-case letter, then up to 63 of a-z, 0-9 and _", t.Name)
	case noRun:
		return fmt.Errorf("tool %s: no run function", t.Name)
	case t.Description == nil || t.Description("en") == "" || t.Description("zh") == "":
		return fmt.Errorf("tool %s: needs a description in en and in zh", t.Name)
	}
	return nil
}

// schemaOf is the closed schema of a struct, with the tags of its fields applied.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, errors.New("arguments must be a struct")
	}
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		return nil, err
	}
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{} // some models refuse an object schema without properties
	}
	return s, refine(s, t)
}

// refine makes an inferred schema say what the decoder accepts: no null in place of a value, and the field tags.
func refine(s *jsonschema.Schema, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return refine(s.Items, t.Elem())
	case reflect.Map:
		return refine(s.AdditionalProperties, t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			prop := s.Properties[name]
			if prop == nil || !f.IsExported() || f.Anonymous {
				continue
			}
			if err := refine(prop, f.Type); err != nil {
				return err
			}
			if err := applyTags(prop, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func applyTags(s *jsonschema.Schema, f reflect.StructField) error {
	if tag, ok := f.Tag.Lookup("enum"); ok {
		target := s
		if s.Items != nil {
			target = s.Items
		}
		for v := range strings.SplitSeq(tag, ",") {
			target.Enum = append(target.Enum, v)
		}
	}
	for tag, to := range map[string]**float64{"min": &s.Minimum, "max": &s.Maximum} {
		text, ok := f.Tag.Lookup(tag)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("field %s: %s: %w", f.Name, tag, err)
		}
		*to = &v
	}
	return nil
}

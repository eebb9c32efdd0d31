package tools

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// numberForm is a JSON number. A numeric string must have this form as well: no hex, no NaN, no unit.
var numberForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// number reads a number, or a text that holds one, and gives it in a form that unmarshals into the field.
func number(p place, s *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, error) {
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, Invalid("tools.args_not_json", 0, err)
		}
		text = strings.TrimSpace(text)
	}
	if !numberForm.MatchString(text) {
		return nil, Invalid("tools.arg_type", p.name(), want(s.Type), show(raw))
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return nil, Invalid("tools.arg_too_big", p.name(), show(raw))
	}
	if s.Type == "integer" {
		if v != math.Trunc(v) {
			return nil, Invalid("tools.arg_type", p.name(), want(s.Type), show(raw))
		}
		whole, err := strconv.ParseInt(text, 10, 64)
		if err != nil { // written as 1e3 or 8.0, or beyond the range
			if math.Abs(v) > 1<<53 {
				return nil, Invalid("tools.arg_too_big", p.name(), show(raw))
			}
			whole = int64(v)
		}
		text = strconv.FormatInt(whole, 10)
	}
	if err := inRange(p, s, v, raw); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

func inRange(p place, s *jsonschema.Schema, v float64, raw json.RawMessage) error {
	low, high := s.Minimum, s.Maximum
	switch {
	case (low == nil || v >= *low) && (high == nil || v <= *high):
		return nil
	case high == nil:
		return Invalid("tools.arg_below", p.name(), Number(*low), show(raw))
	case low == nil:
		return Invalid("tools.arg_above", p.name(), Number(*high), show(raw))
	}
	return OutOfRange(p.name(), *low, *high, show(raw))
}

// OutOfRange is the fault of a number that is not between low and high. got is the number as it was given.
func OutOfRange(name string, low, high float64, got string) *Fault {
	return Invalid("tools.arg_range", name, Number(low), Number(high), got)
}

// Number writes v without an exponent for everyday sizes and without trailing zeros: 1, 0.5, 3600.
func Number(v float64) string {
	if math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

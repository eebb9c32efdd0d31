package config

import (
	"errors"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones where the system has none: Windows, small containers

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/executor/environ"
	"github.com/maishell/maishell/roles"
)

// field is one setting, as the tags of Config describe it.
type field struct {
	key      string // "section.key", or "key" at the top
	name     string // "key"
	index    []int
	kind     reflect.Kind // String, Bool, Int, Float64 or Slice (of strings)
	ranged   bool
	min, max float64
	enum     []string
	check    string
	restart  bool // a change waits for a restart
}

// fields lists all settings in the order of Config.
func fields() []field { return fieldsOf(reflect.TypeFor[Config](), "", nil) }

func fieldsOf(t reflect.Type, section string, index []int) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		if !sf.IsExported() {
			continue
		}
		name := sf.Tag.Get("toml")
		at := append(append([]int(nil), index...), i)
		if sf.Type.Kind() == reflect.Struct {
			out = append(out, fieldsOf(sf.Type, section+name+".", at)...)
			continue
		}
		f := field{key: section + name, name: name, index: at, kind: sf.Type.Kind(), check: sf.Tag.Get("check"), restart: sf.Tag.Get("restart") != ""}
		if lowest := sf.Tag.Get("min"); lowest != "" {
			f.ranged = true
			f.min, _ = strconv.ParseFloat(lowest, 64)            // constants, held by a test
			f.max, _ = strconv.ParseFloat(sf.Tag.Get("max"), 64) // the same
		}
		if enum := sf.Tag.Get("enum"); enum != "" {
			f.enum = strings.Split(enum, ",")
		}
		out = append(out, f)
	}
	return out
}

// sections lists the names of the tables.
func sections() []string {
	var out []string
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		if sf := t.Field(i); sf.Type.Kind() == reflect.Struct && sf.IsExported() {
			out = append(out, sf.Tag.Get("toml"))
		}
	}
	return out
}

// convert turns what TOML decoding gave into the field's type; it is not ok when that does not fit.
func (f field) convert(v any) (out any, ok bool) {
	switch f.kind {
	case reflect.Int:
		n, ok := v.(int64)
		return int(n), ok && n == int64(int(n))
	case reflect.Float64:
		if n, ok := v.(int64); ok {
			return float64(n), true
		}
		n, ok := v.(float64)
		return n, ok
	case reflect.Slice:
		list, ok := v.([]any)
		out := make([]string, 0, len(list))
		for _, e := range list {
			s, isText := e.(string)
			ok = ok && isText
			out = append(out, s)
		}
		return out, ok
	case reflect.Bool:
		b, ok := v.(bool)
		return b, ok
	}
	s, ok := v.(string)
	return s, ok
}

// wanted is the message for a value that convert does not take.
func (f field) wanted() string {
	switch f.kind {
	case reflect.Int:
		return "config.want_int"
	case reflect.Float64:
		return "config.want_number"
	case reflect.Slice:
		return "config.want_list"
	case reflect.Bool:
		return "config.want_bool"
	}
	return "config.want_text"
}

// parse turns the text of a variable or flag into what TOML decoding would give; what does not fit stays text.
func (f field) parse(text string) any {
	switch f.kind {
	case reflect.Bool:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "1", "yes", "on":
			return true
		case "false", "0", "no", "off":
			return false
		}
	case reflect.Int:
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
			return n
		}
	case reflect.Float64:
		if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			return n
		}
	case reflect.Slice:
		list := []any{}
		for e := range strings.SplitSeq(text, ",") {
			if e = strings.TrimSpace(e); e != "" {
				list = append(list, e)
			}
		}
		return list
	}
	return text
}

// validate checks a value of the field's type and returns it as it is to be used.
func (f field) validate(v any, where string, home func() string) (any, []*Problem) {
	switch v := v.(type) {
	case int:
		return v, f.inRange(float64(v), where)
	case float64:
		return v, f.inRange(v, where)
	case []string:
		return v, f.checkEntries(v, where)
	case string:
		for _, allowed := range f.enum {
			if v == allowed {
				return v, nil
			}
		}
		if f.enum != nil {
			return v, problem(where, "config.not_one_of", f.key, quote(v), strings.Join(f.enum, ", "))
		}
		return f.checkText(v, where, home)
	}
	return v, nil
}

func (f field) inRange(n float64, where string) []*Problem {
	if !f.ranged || n >= f.min && n <= f.max { // NaN is not in any range
		return nil
	}
	return problem(where, "config.out_of_range", f.key, number(n), number(f.min), number(f.max))
}

func number(n float64) string {
	if math.Abs(n) < 1e15 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// checkText checks a text by the field's check tag; the empty text is always "the default".
func (f field) checkText(v, where string, home func() string) (string, []*Problem) {
	if strings.ContainsRune(v, 0) {
		return v, problem(where, "config.has_nul", f.key)
	}
	if v == "" {
		return v, nil
	}
	switch f.check {
	case "timezone":
		if _, err := time.LoadLocation(v); err != nil || v == "Local" {
			return v, problem(where, "config.bad_timezone", f.key, quote(v))
		}
	case "url":
		if u, err := url.Parse(v); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return v, problem(where, "config.bad_url", f.key, quote(v))
		}
	case "code_page":
		if executor.ParseCodePage(v) != nil {
			return v, problem(where, "config.bad_code_page", f.key, quote(v))
		}
	case "path":
		path, ok := absolute(v, home)
		if !ok {
			return v, problem(where, "config.not_absolute", f.key, quote(v))
		}
		return path, nil
	}
	return v, nil
}

// checkVariables checks a list of names of variables, or of NAME=value.
func (f field) checkVariables(list []string, where string) []*Problem {
	var out []*Problem
	for _, entry := range list {
		name, value, ok := entry, "", true
		if f.check == "assignment" {
			name, value, ok = strings.Cut(entry, "=")
		} else {
			name = strings.TrimSuffix(name, "*")
		}
		if !ok || !environ.IsName(name) || strings.IndexByte(value, 0) >= 0 || strings.HasPrefix(strings.ToUpper(name), "MAISHELL") {
			out = append(out, problem(where, "config.bad_"+f.check, f.key, quote(entry))...)
		}
	}
	return out
}

// checkEntries checks a list of persons or groups: everything in it that could never match is a problem.
func (f field) checkEntries(list []string, where string) []*Problem {
	var out []*Problem
	switch f.check {
	case "name":
		return nil // whoever uses the names knows which there are
	case "variable", "assignment":
		return f.checkVariables(list, where)
	}
	for i, entry := range list {
		one := roles.Lists{Admins: []string{entry}}
		if f.check == "group" {
			one = roles.Lists{AdminGroups: []string{entry}}
		}
		_, err := roles.NewResolver(one)
		if err == nil && (strings.Contains(entry, ": ") || strings.Contains(entry, " :")) {
			err = &roles.EntryError{Code: "roles.entry_space"}
		}
		var bad *roles.EntryError
		if errors.As(err, &bad) {
			bad.List, bad.Index, bad.Entry = f.name, i, entry
			out = append(out, problem(where, "config.bad_entry", bad)...)
		}
	}
	return out
}

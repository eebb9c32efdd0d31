package scripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxDepth is how deep JSON values may lie in each other.
const maxDepth = 64

// jsonDecode is mai.json.decode(text): the value, or nil and what is wrong. A null in it is nil.
func (m *machine) jsonDecode(l *lua.LState) int {
	v, err := m.fromJSON(l, l.CheckString(1))
	if err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(v)
	return 1
}

func (m *machine) fromJSON(l *lua.LState, text string) (lua.LValue, error) {
	m.Budget.Charge(l, len(text))
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, err := m.jsonValue(l, dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the value")
	}
	return v, nil
}

func (m *machine) jsonValue(l *lua.LState, dec *json.Decoder, depth int) (lua.LValue, error) {
	m.Budget.Charge(l, 64)
	m.Budget.Step(l, 16)
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case string:
		return lua.LString(t), nil
	case bool:
		return lua.LBool(t), nil
	case json.Number:
		f, err := t.Float64()
		return lua.LNumber(f), err
	case json.Delim:
		if depth == maxDepth {
			return nil, errors.New("too deep")
		}
		if t == '[' {
			return m.jsonList(l, dec, depth)
		}
		return m.jsonObject(l, dec, depth)
	}
	return lua.LNil, nil
}

func (m *machine) jsonList(l *lua.LState, dec *json.Decoder, depth int) (lua.LValue, error) {
	m.Budget.Charge(l, 600)
	out := l.CreateTable(0, 0)
	for i := 1; dec.More(); i++ {
		v, err := m.jsonValue(l, dec, depth+1)
		if err != nil {
			return nil, err
		}
		out.RawSetInt(i, v)
	}
	_, err := dec.Token()
	return out, err
}

func (m *machine) jsonObject(l *lua.LState, dec *json.Decoder, depth int) (lua.LValue, error) {
	m.Budget.Charge(l, 2600)
	out := l.CreateTable(0, 0)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := m.jsonValue(l, dec, depth+1)
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		m.Budget.Charge(l, 128+len(name))
		out.RawSetString(name, v)
	}
	_, err := dec.Token()
	return out, err
}

// jsonEncode is mai.json.encode(value). A table with elements is a list, any other an object.
func (m *machine) jsonEncode(l *lua.LState) int {
	var b bytes.Buffer
	m.writeJSON(l, &b, l.CheckAny(1), 0)
	m.Budget.Charge(l, b.Len())
	l.Push(lua.LString(b.String()))
	return 1
}

func (m *machine) writeJSON(l *lua.LState, b *bytes.Buffer, v lua.LValue, depth int) {
	m.Budget.Step(l, 16)
	switch v := v.(type) {
	case *lua.LNilType:
		b.WriteString("null")
	case lua.LBool:
		b.WriteString(strconv.FormatBool(bool(v)))
	case lua.LNumber:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			l.RaiseError("mai.json: %v is no JSON number", v)
		}
		m.Budget.Charge(l, 64)
		b.WriteString(strconv.FormatFloat(float64(v), 'g', -1, 64))
	case lua.LString:
		m.writeText(l, b, string(v))
	case *lua.LTable:
		if depth == maxDepth {
			l.RaiseError("mai.json: too deep")
		}
		if n := v.Len(); n > 0 {
			m.writeList(l, b, v, n, depth)
			return
		}
		m.writeObject(l, b, v, depth)
	default:
		l.RaiseError("mai.json: a %s is no JSON value", v.Type())
	}
}

func (m *machine) writeText(l *lua.LState, b *bytes.Buffer, s string) {
	m.Budget.Charge(l, 7*len(s)+32) // \u0000
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		l.RaiseError("mai.json: %s", err.Error())
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
}

func (m *machine) writeList(l *lua.LState, b *bytes.Buffer, t *lua.LTable, n, depth int) {
	m.Budget.Charge(l, 2*n+2)
	b.WriteByte('[')
	for i := 1; i <= n; i++ {
		if i > 1 {
			b.WriteByte(',')
		}
		m.writeJSON(l, b, t.RawGetInt(i), depth+1)
	}
	b.WriteByte(']')
}

func (m *machine) writeObject(l *lua.LState, b *bytes.Buffer, t *lua.LTable, depth int) {
	var keys []string
	t.ForEach(func(k, _ lua.LValue) {
		m.Budget.Charge(l, 48)
		name, ok := k.(lua.LString)
		if !ok {
			l.RaiseError("mai.json: the key of an object is a text, not a %s", k.Type())
		}
		keys = append(keys, string(name))
	})
	slices.Sort(keys)
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		m.writeText(l, b, k)
		b.WriteByte(':')
		m.writeJSON(l, b, t.RawGetString(k), depth+1)
	}
	b.WriteByte('}')
}

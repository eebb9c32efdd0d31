package config

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// entry is one setting as some layer gives it.
type entry struct {
	field  field
	value  any    // as TOML decoding gives it
	where  string // for problems
	origin string // for Config.Origin
}

// decoder reads one TOML file. The decoder of the library finds what is no TOML, duplicates included, and decodes the
// values; its parser then tells where each key stands.
type decoder struct {
	file   string
	data   []byte
	parser unstable.Parser
	known  map[string]field
	tables []string
	take   func(entry) []*Problem
	bad    []*Problem

	counted, lines int // bytes of data of which the line feeds are counted, and their number
}

// decode hands the settings of a file to take, in their order, and returns what take found wrong with them together
// with everything in the file that is not in known.
func decode(file string, data []byte, known map[string]field, take func(entry) []*Problem) []*Problem {
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		return syntaxProblem(file, data, err)
	}
	d := decoder{file: file, data: data, known: known, tables: sections(), take: take}
	d.parser.Reset(data)
	var section []string
	skip := false
	for d.parser.NextExpression() {
		switch e := d.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			section = keyOf(nil, e)
			skip = !d.header(section, e)
		case unstable.KeyValue:
			if !skip {
				d.keyValue(section, e, tree)
			}
		}
	}
	if err := d.parser.Error(); err != nil {
		return syntaxProblem(file, data, err)
	}
	return d.bad
}

// keyOf returns the parts of a node's key behind those of its table.
func keyOf(table []string, n *unstable.Node) []string {
	key := slices.Clone(table)
	for it := n.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
	}
	return key
}

// place is where a node's key stands. Keys come in the order of the file, so its lines are counted once.
func (d *decoder) place(n *unstable.Node) (where, origin string) {
	it := n.Key()
	it.Next()
	offset := int(it.Node().Raw.Offset)
	d.lines += bytes.Count(d.data[d.counted:offset], []byte{'\n'})
	d.counted = offset
	origin = d.file + ":" + strconv.Itoa(d.lines+1)
	column := offset - bytes.LastIndexByte(d.data[:offset], '\n')
	return origin + ":" + strconv.Itoa(column), origin
}

// header checks the head of a table; it is false when what follows is not to be looked at.
func (d *decoder) header(section []string, n *unstable.Node) bool {
	name := dotted(section)
	where, _ := d.place(n)
	if n.Kind == unstable.Table {
		if slices.Contains(d.tables, name) {
			return true
		}
		if f, ok := d.known[name]; ok {
			d.bad = append(d.bad, problem(where, f.wanted(), f.key, describe(map[string]any{}))...)
			return false
		}
		name = "[" + name + "]"
	} else {
		name = "[[" + name + "]]"
	}
	if near := nearest(strings.Trim(name, "[]"), d.tables); near != "" {
		d.bad = append(d.bad, problem(where, "config.unknown_section_near", name, "["+near+"]")...)
	} else {
		d.bad = append(d.bad, problem(where, "config.unknown_section", name, sectionList())...)
	}
	return false
}

// keyValue takes one "key = value"; tree is where its decoded value is.
func (d *decoder) keyValue(section []string, n *unstable.Node, tree map[string]any) {
	path := keyOf(section, n)
	key := dotted(path)
	where, origin := d.place(n)
	if f, ok := d.known[key]; ok {
		d.bad = append(d.bad, d.take(entry{field: f, value: lookup(tree, path), where: where, origin: origin})...)
		return
	}
	if slices.Contains(d.tables, key) {
		if n.Value().Kind != unstable.InlineTable {
			d.bad = append(d.bad, problem(where, "config.not_a_section", key)...)
			return
		}
		for it := n.Value().Children(); it.Next(); {
			d.keyValue(path, it.Node(), tree)
		}
		return
	}
	d.bad = append(d.bad, unknownKey(where, key, nearest(key, keys()))...)
}

// lookup returns the value at a path of a decoded file.
func lookup(tree map[string]any, path []string) any {
	var v any = tree
	for _, part := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

func unknownKey(where, key, near string) []*Problem {
	if near != "" {
		return problem(where, "config.unknown_key_near", key, near)
	}
	section, _, _ := strings.Cut(key, ".")
	if names := namesIn(section); len(names) > 0 && section != key {
		return problem(where, "config.unknown_key", key, section, strings.Join(names, ", "))
	}
	return problem(where, "config.unknown_key_outside", key, sectionList())
}

// namesIn lists the settings of a section; none when there is no such section.
func namesIn(section string) []string {
	var out []string
	for _, f := range fields() {
		if f.key == section+"."+f.name {
			out = append(out, f.name)
		}
	}
	return out
}

func sectionList() string { return "[" + strings.Join(sections(), "] [") + "]" }

func keys() []string {
	var out []string
	for _, f := range fields() {
		out = append(out, f.key)
	}
	return out
}

// dotted joins a key's parts; one that holds more than a bare key can is quoted, so that "a.b" is not a and b.
func dotted(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p
		if p == "" || strings.ContainsFunc(p, notBare) {
			out[i] = strconv.Quote(p)
		}
	}
	return strings.Join(out, ".")
}

func notBare(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

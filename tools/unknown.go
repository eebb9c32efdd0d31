package tools

import (
	"encoding/json"
	"sort"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// unknown is the fault of a key that the object does not have. It names the right one where it can tell: the same
// name in another spelling, a name that other agents use, or the nearest.
func (d decoder) unknown(p place, s *jsonschema.Schema, key string, v json.RawMessage) *Fault {
	name := p.key(key).name()
	given := plain(key)
	for own := range s.Properties {
		if plain(own) == given {
			return Invalid("tools.arg_unknown_near", name, own)
		}
	}
	if p.path == "" {
		if f := d.aliased(name, given, v); f != nil {
			return f
		}
	}
	if own := nearest(given, s.Properties); own != "" {
		return Invalid("tools.arg_unknown_near", name, own)
	}
	if len(s.Properties) == 0 {
		return Invalid("tools.arg_unknown_none", name)
	}
	return Invalid("tools.arg_unknown", name, strings.Join(names(s), ", "))
}

// aliased answers for a name that other agents use.
func (d decoder) aliased(name, given string, v json.RawMessage) *Fault {
	for alias, own := range d.aliases {
		if plain(alias) != given {
			continue
		}
		switch {
		case own == "":
			return Invalid("tools.arg_absent", name)
		case strings.HasSuffix(given, "ms") && strings.HasSuffix(own, "_seconds"):
			return Invalid("tools.arg_unknown_ms", name, own, show(v))
		}
		return Invalid("tools.arg_unknown_near", name, own)
	}
	return nil
}

// plain is a name without case and separators, so that timeoutSeconds and timeout-seconds are timeout_seconds.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// names are the keys of an object in the order in which they were declared.
func names(s *jsonschema.Schema) []string {
	if len(s.PropertyOrder) == len(s.Properties) {
		return s.PropertyOrder
	}
	out := make([]string, 0, len(s.Properties))
	for k := range s.Properties {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// nearest is the key with the least edit distance to given, if that is at most a third of its length.
func nearest(given string, keys map[string]*jsonschema.Schema) string {
	best, bestDistance := "", len(given)
	for own := range keys {
		distance := editDistance(given, plain(own))
		if distance < bestDistance || distance == bestDistance && own < best {
			best, bestDistance = own, distance
		}
	}
	if bestDistance > max(1, len(given)/3) {
		return ""
	}
	return best
}

// editDistance counts insertions, deletions and replacements of bytes. Names longer than any parameter's are cut:
// they are far from all.
func editDistance(a, b string) int {
	a = a[:min(len(a), 80)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

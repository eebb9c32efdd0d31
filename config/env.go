package config

import (
	"maps"
	"slices"
	"strings"
)

const envPrefix = "MAISHELL_"

// assignment is a setting that comes as text.
type assignment struct {
	key    string // "section.key"
	text   string
	where  string // for problems
	origin string // for Config.Origin
}

// unknown is the problem of an assignment to something that is no setting.
func (a assignment) unknown() []*Problem {
	near := nearest(a.key, keys()[1:]) // all but config_version
	if a.where == variableOf(a.key) {
		if near != "" {
			return problem(a.where, "config.unknown_variable_near", variableOf(near))
		}
		section, _, _ := strings.Cut(a.key, ".")
		if names := namesIn(section); len(names) > 0 {
			return problem(a.where, "config.unknown_variable_in", section, strings.Join(names, ", "), variableOf(section+"."+names[0]))
		}
		return problem(a.where, "config.unknown_variable", sectionList())
	}
	return unknownKey(a.where, a.key, near)
}

// variables returns the settings in an environment, by name. Only names with "__" behind our prefix are settings.
func variables(env []string) []assignment {
	byName := map[string]string{}
	for _, e := range env {
		name, text, ok := strings.Cut(e, "=")
		if rest, ours := strings.CutPrefix(name, envPrefix); ok && ours && strings.Contains(rest, "__") {
			byName[name] = text
		}
	}
	var out []assignment
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		key := strings.ToLower(strings.ReplaceAll(name[len(envPrefix):], "__", "."))
		out = append(out, assignment{key: key, text: byName[name], where: name, origin: name})
	}
	return out
}

func variableOf(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
}

// flags returns the settings given on the command line, by name.
func flags(given map[string]string) []assignment {
	var out []assignment
	for _, key := range slices.Sorted(maps.Keys(given)) {
		out = append(out, assignment{key: key, text: given[key], where: "flag " + key, origin: "flag"})
	}
	return out
}

// lookupEnv is os.Getenv over a list; as there, the last one of a name counts.
func lookupEnv(env []string) func(string) string {
	return func(name string) string {
		for _, e := range slices.Backward(env) {
			if k, v, ok := strings.Cut(e, "="); ok && sameName(k, name) {
				return v
			}
		}
		return ""
	}
}

package guard

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/maishell/maishell/guard/paths"
	"github.com/maishell/maishell/policy"
)

const wildcards = "*?[{("

// candidate is a path that a word may stand for.
type candidate struct {
	text    string // absolute, not cleaned
	pattern bool   // text has wildcards
	tail    bool   // only the last element is known
	guess   bool   // text names this process, which the word may or may not mean
}

// expanded is a word after expansion.
type expanded struct {
	text    string
	pattern bool // has wildcards
	unknown bool // some are for what is not known
}

// paths are all that a word may stand for, from every directory the text may be in.
func (t *text) paths(w policy.Word) []candidate {
	if isProcess(w) {
		return nil // no file; the commands inside are judged by themselves
	}
	var out []candidate
	for _, s := range spellings(w.Text) {
		for _, e := range t.expand(s, w) {
			out = t.candidates(out, e)
			if e.pattern && strings.Contains(e.text, "proc") {
				out = t.processes(out, e.text, strings.Contains(w.Text, "$$") || strings.Contains(w.Text, "BASHPID"))
			}
		}
	}
	return out
}

// isProcess reports <(...) and >(...).
func isProcess(w policy.Word) bool {
	return !w.Static && (strings.HasPrefix(w.Text, "<(") || strings.HasPrefix(w.Text, ">("))
}

func (t *text) candidates(out []candidate, e expanded) []candidate {
	s := e.text
	switch {
	case s == "", s == "{}": // what find puts in: its own words say where from
	case strings.HasPrefix(s, "*") && e.unknown && strings.ContainsRune(s, '/'):
		out = append(out, candidate{text: s, tail: true})
	case strings.HasPrefix(s, "*") && e.unknown:
		// Any name at all: says nothing.
	case filepath.IsAbs(s):
		out = append(out, candidate{text: s, pattern: e.pattern})
	default:
		if t.lost && !e.pattern {
			out = append(out, candidate{text: s, tail: true})
		}
		for _, base := range t.bases {
			out = append(out, candidate{text: paths.Absolute(s, base), pattern: e.pattern})
		}
	}
	return out
}

// processes adds what a path through /proc may lead to when the process is not known: itself (its directory is one of
// the text's), or us; the name at its end counts too.
func (t *text) processes(out []candidate, path string, itself bool) []candidate {
	elements := paths.Split(filepath.Clean(path))
	if len(elements) < 3 || elements[0] != "proc" || !strings.ContainsAny(elements[1], wildcards) {
		return out
	}
	rest := elements[2:]
	if !itself {
		out = append(out, patternOrPath("/proc/"+t.pid()+"/"+strings.Join(rest, "/"), true))
	}
	if len(rest) > 2 && paths.MatchName(rest[0], "task") {
		rest = rest[2:]
	}
	below := strings.Join(rest[1:], "/")
	if paths.MatchName(rest[0], "cwd") && below != "" {
		for _, base := range t.bases {
			out = append(out, patternOrPath(paths.Absolute(below, base), false))
		}
		if !strings.ContainsAny(rest[len(rest)-1], wildcards) {
			out = append(out, candidate{text: path, tail: true})
		}
	}
	if paths.MatchName(rest[0], "root") {
		out = append(out, patternOrPath("/"+below, false))
	}
	return out
}

func patternOrPath(text string, guess bool) candidate {
	return candidate{text: text, pattern: strings.ContainsAny(text, wildcards), guess: guess}
}

// spellings are the parts of a word that may be a path: all of it, the value of --option=value or of=value, what
// follows a short option, @file and file://.
func spellings(word string) []string {
	var out []string
	if !strings.HasPrefix(word, "-") {
		out = append(out, word)
		if s := strings.TrimPrefix(word, "@"); s != word {
			out = append(out, s)
		}
		if s := strings.TrimPrefix(word, "file://"); s != word {
			out = append(out, s)
		}
	} else if len(word) > 2 && word[1] != '-' && strings.ContainsAny(word[2:], `/\`) {
		out = append(out, word[2:])
	}
	if _, value, ok := strings.Cut(word, "="); ok {
		out = append(out, value)
	}
	return out
}

// expand replaces what a shell replaces: the tilde, and in words that are not static the variables that we know. What
// else is unknown becomes a wildcard. There are several results where a value is one of several.
func (t *text) expand(s string, w policy.Word) []expanded {
	if strings.HasPrefix(s, "~") {
		return t.tilde(s, w)
	}
	if w.Static {
		return []expanded{{text: s, pattern: w.Glob}}
	}
	homes, here := []string{""}, []string{""}
	if strings.Contains(s, "HOME") {
		homes = t.homes
		if t.homeLost {
			homes = append(slices.Clip(homes), "")
		}
	}
	if strings.Contains(s, "PWD") {
		here = t.bases
	}
	var out []expanded
	for _, home := range homes {
		for _, dir := range here {
			text, pattern := unquote(s, map[string]string{"HOME": home, "PWD": dir})
			out = append(out, expanded{text, pattern, pattern})
		}
	}
	return out
}

// tilde expands ~, ~+ and ~user: the last may be anybody, and so may ~ when the text sets HOME.
func (t *text) tilde(s string, w policy.Word) []expanded {
	end := strings.IndexByte(s, '/')
	if end < 0 {
		end = len(s)
	}
	dirs, lost := t.homes, t.homeLost
	switch s[:end] {
	case "~":
	case "~+":
		dirs, lost = t.bases, false
	default:
		lost = true
	}
	rest, pattern := s[end:], w.Glob
	if !w.Static {
		rest, pattern = unquote(rest, nil)
	}
	var out []expanded
	for _, dir := range dirs {
		out = append(out, expanded{dir + rest, pattern, pattern && !w.Static})
	}
	if lost && rest != "" {
		out = append(out, expanded{"*" + rest, true, true})
	}
	if s[:end] != "~" {
		out = append(out, expanded{s, pattern, false}) // no such user: as it stands
	}
	return out
}

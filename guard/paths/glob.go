package paths

import (
	"path"
	"path/filepath"
	"strings"
)

// Pattern is an absolute path with shell wildcards, as the elements that follow a directory without any.
type Pattern struct {
	Dir  string
	Rest []string // in the form of Key
}

// ParsePattern separates the directory without wildcards from the elements that follow.
func ParsePattern(text string) Pattern {
	i := strings.IndexAny(text, "*?[{(")
	if i < 0 {
		i = len(text)
	}
	cut := strings.LastIndexAny(text[:i], `/\`)
	if cut < 0 {
		return Pattern{Dir: string(filepath.Separator), Rest: Split(Key(text))}
	}
	return Pattern{Dir: text[:cut+1], Rest: Split(Key(text[cut:]))}
}

// Matches reports whether the pattern, below Dir, matches all elements of a path.
func (p Pattern) Matches(elements []string) bool { return matches(p.Rest, elements) }

// Passes reports whether the pattern matches something below the path.
func (p Pattern) Passes(elements []string) bool {
	for i := range p.Rest {
		if matches(p.Rest[:i], elements) {
			return true
		}
	}
	return false
}

func matches(pattern, names []string) bool {
	if len(pattern) == 0 {
		return len(names) == 0
	}
	if pattern[0] != "**" {
		return len(names) > 0 && MatchName(pattern[0], names[0]) && matches(pattern[1:], names[1:])
	}
	for len(pattern) > 1 && pattern[1] == "**" { // several in a row are one; else each would double the work
		pattern = pattern[1:]
	}
	for i := range len(names) + 1 {
		if matches(pattern[1:], names[i:]) {
			return true
		}
	}
	return false
}

// MatchName matches one element. What goes beyond *, ? and [...] matches everything: braces, extended patterns and
// character classes differ between shells.
func MatchName(pattern, name string) bool {
	if strings.ContainsAny(pattern, "{(") || strings.Contains(pattern, "[:") || strings.Contains(pattern, "[.") {
		return true
	}
	if strings.HasPrefix(name, ".") && (strings.HasPrefix(pattern, "*") || strings.HasPrefix(pattern, "?")) {
		return false // a leading dot has to be written
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok || err != nil
}

package offline

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

//go:embed lexicon.toml
var lexiconFile []byte

//go:embed traditional.toml
var traditionalFile []byte

// lexicon is the vocabulary: for each phrase the kinds it is of.
type lexicon struct {
	kinds   map[string][]string
	byStart map[rune][]string // phrases by first character, longest first
	// simplify writes Traditional Chinese as the phrases are written.
	simplify *strings.Replacer
}

func loadLexicon(data, traditional []byte) (*lexicon, error) {
	var file map[string][]string
	var simple map[string]string
	if err := errors.Join(toml.Unmarshal(data, &file), toml.Unmarshal(traditional, &simple)); err != nil {
		return nil, fmt.Errorf("offline: lexicon: %w", err)
	}
	var pairs []string
	for _, from := range slices.SortedFunc(maps.Keys(simple), func(a, b string) int { return len(b) - len(a) }) {
		if from == "" { // it would be found everywhere
			return nil, errors.New("offline: lexicon: empty phrase in traditional")
		}
		pairs = append(pairs, from, simple[from])
	}
	l := &lexicon{simplify: strings.NewReplacer(pairs...), kinds: map[string][]string{}, byStart: map[rune][]string{}}
	for kind, phrases := range file {
		for _, p := range phrases {
			if p == "" {
				return nil, fmt.Errorf("offline: lexicon: empty phrase in %s", kind)
			}
			if len(l.kinds[p]) == 0 {
				first, _ := utf8.DecodeRuneInString(p)
				l.byStart[first] = append(l.byStart[first], p)
			}
			l.kinds[p] = append(l.kinds[p], kind)
		}
	}
	for _, phrases := range l.byStart {
		slices.SortFunc(phrases, func(a, b string) int { return len(b) - len(a) })
	}
	return l, nil
}

// reading is what a text consists of.
type reading struct {
	has     map[string]bool // kinds that occur
	first   []string        // kinds of the first phrase that is not filler
	numbers []int
	known   bool // all of it is vocabulary
	bare    bool // it does nothing but name measures: "disk and memory", "port 22"
	english bool // it has an English word, not only names that both languages use
}

// read cuts a normalised text into phrases, longest match first. A number counts as known; what it means is for the
// caller to say.
func (l *lexicon) read(text string) reading {
	r := reading{has: map[string]bool{}, known: true, bare: true}
	for text != "" {
		c, n := utf8.DecodeRuneInString(text)
		if unicode.IsSpace(c) || strings.ContainsRune("?!.,:;\"'~…、。，！？：；「」“”()", c) {
			text = text[n:]
			continue
		}
		if num, rest, ok := number(text); ok {
			r.numbers, text = append(r.numbers, num), rest
			continue
		}
		p, ok := l.longest(text)
		if !ok {
			r.known = false
			return r
		}
		kinds := l.kinds[p]
		if r.first == nil && !slices.Contains(kinds, "filler") {
			r.first = kinds
		}
		for _, k := range kinds {
			r.has[k] = true
		}
		r.bare = r.bare && slices.ContainsFunc(kinds, func(k string) bool { return k == "bare" || k == "measure" || k == "filler" })
		r.english = r.english || c < utf8.RuneSelf && !slices.Contains(kinds, "neutral")
		text = text[len(p):]
	}
	r.bare = r.bare && r.has["bare"]
	return r
}

// longest is the longest phrase at the start of text. A Latin one ends where its word ends.
func (l *lexicon) longest(text string) (string, bool) {
	c, _ := utf8.DecodeRuneInString(text)
	for _, p := range l.byStart[c] {
		if !strings.HasPrefix(text, p) {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(p)
		next, _ := utf8.DecodeRuneInString(text[len(p):])
		if inWord(last) && (inWord(next) || strings.HasPrefix(text[len(p):], "'s ")) {
			continue
		}
		return p, true
	}
	return "", false
}

// inWord reports whether a character belongs to a Latin word, a number, or a name made of them.
func inWord(r rune) bool {
	return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-' || r == '/' || r == '\\' || r == '@'
}

// number reads a decimal number that stands alone. Of one with more than nine digits only that it is large is told.
func number(text string) (int, string, bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	rest := text[end:]
	if next, _ := utf8.DecodeRuneInString(rest); end == 0 || rest != "" && (inWord(next) || next == '%') {
		return 0, "", false
	}
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ':' || rest[0] == ',') && rest[1] >= '0' && rest[1] <= '9' {
		return 0, "", false // a fraction, an address, a time
	}
	if end > 9 {
		return 1e9, rest, true
	}
	n, err := strconv.Atoi(text[:end])
	return n, rest, err == nil
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// syntaxProblem words what the library says about a file that is no TOML: the common mistakes by what stands there, the
// rest in the library's own words.
func syntaxProblem(file string, data []byte, err error) []*Problem {
	said := strings.TrimPrefix(err.Error(), "toml: ")
	var de *toml.DecodeError
	if !errors.As(err, &de) {
		return problem(file, "config.syntax", said)
	}
	line, column := de.Position()
	where := fmt.Sprintf("%s:%d:%d", file, line, column)
	before, after := around(data, line, column)
	if code, args := mistake(before, after, said); code != "" {
		return problem(where, code, args...)
	}
	return problem(where, "config.syntax", said)
}

// around cuts the line at the column, which counts bytes from 1. The lines end in "\n" or "\r\n".
func around(data []byte, line, column int) (before, after string) {
	for range line - 1 {
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	data, _, _ = bytes.Cut(data, []byte{'\n'})
	text := strings.TrimSuffix(string(data), "\r")
	column = min(max(column-1, 0), len(text))
	return text[:column], text[column:]
}

var (
	defined = regexp.MustCompile(`^(?:key|table) (\S+) (?:is already defined|already exists)`)
	word    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*`)
)

// mistake names the mistake at the place where a line became wrong, or nothing.
func mistake(before, after, said string) (code string, args []any) {
	if m := defined.FindStringSubmatch(said); m != nil {
		return "config.syntax_twice", []any{m[1]}
	}
	rest := strings.Trim(after, " \t") // not the wide spaces
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case strings.Contains(said, "escape") || strings.Contains(said, `after \`):
		return "config.syntax_escape", nil
	case strings.Contains(said, "have new lines") || strings.Contains(said, "nterminated") || strings.Contains(said, "not terminated"):
		return "config.syntax_open_text", nil
	case first == 0x3000 || first == 0xa0:
		return "config.syntax_space", []any{fmt.Sprintf("%U", first)}
	case rest != "" && first >= utf8.RuneSelf:
		if plain := ascii(first); plain != "" {
			return "config.syntax_wide", []any{string(first), plain}
		}
		return "config.syntax_character", []any{string(first)}
	case strings.Contains(said, "array is incomplete") || strings.Contains(said, "after array value") || strings.Contains(said, "close"):
		return "config.syntax_open_bracket", nil
	}
	return valueMistake(strings.TrimSpace(before), rest, said)
}

// valueMistake is mistake for what stands in place of a value, or of the sign before it.
func valueMistake(before, rest, said string) (code string, args []any) {
	// The library can notice a word inside it or behind it; the value begins behind the sign.
	value := rest
	if i := strings.IndexByte(before+rest, '='); i >= 0 {
		value = strings.TrimSpace((before + rest)[i+1:])
	}
	w := word.FindString(value)
	switch {
	case strings.Contains(said, "'=' after key"):
		return "config.syntax_no_sign", nil
	case value == "" || value[0] == '#':
		return "config.syntax_no_value", nil
	case truth(w) != "" && truth(w) != w:
		return "config.syntax_truth", []any{w, truth(w)}
	case value[0] >= '0' && value[0] <= '9':
		return "config.syntax_number", nil
	case strings.Contains(said, "expected newline"):
		return "config.syntax_more", nil
	case w != "", value[0] == '/', value[0] == '~':
		return "config.syntax_no_quotes", nil
	}
	return "", nil
}

// truth is the TOML for words that other languages use for it; empty for every other word.
func truth(w string) string {
	switch strings.ToLower(w) {
	case "true", "yes", "on":
		return "true"
	case "false", "no", "off":
		return "false"
	}
	return ""
}

// ascii is what was meant by a character of a Chinese keyboard or a word processor, or nothing.
func ascii(r rune) string {
	if r > 0xff00 && r < 0xff5f { // the full-width forms stand in ASCII's order
		return string(r - 0xff00 + 0x20)
	}
	for _, pair := range [...][2]string{
		{"“”„「」『』", `"`}, {"‘’", "'"}, {"【", "["}, {"】", "]"}, {"、，", ","}, {"。", "."}, {"—–", "-"},
	} {
		if strings.ContainsRune(pair[0], r) {
			return pair[1]
		}
	}
	return ""
}

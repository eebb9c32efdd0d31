package commands

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// typed is a text that starts like a command. The name has no slash and is folded; rest is unchanged.
type typed struct {
	name string
	rest string
}

// parse splits a command text after exactly one separator: a space of any width, a tab or a line end. False: not a
// command (a path such as /etc/passwd is none).
func parse(text string) (typed, bool) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	mark, n := utf8.DecodeRuneInString(text)
	switch mark {
	case '!', '！':
		rest := text[n:]
		if rest == "" || strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "！") {
			return typed{}, false // "!!!" is a mood, not a command
		}
		return typed{name: "run", rest: rest}, true
	case '/', '／':
		word, rest := text[n:], ""
		if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
			word, rest = word[:i], afterSeparator(word[i:])
		}
		if word == "" || strings.ContainsAny(word, "/／") {
			return typed{}, false
		}
		return typed{name: strings.ToLower(norm.NFKC.String(word)), rest: rest}, true
	}
	return typed{}, false
}

// topDirs are the usual directories at the root. "/tmp 还剩多少空间" is about one of them.
const topDirs = " applications bin boot data dev etc home lib lib64 library media mnt nix opt private proc root sbin srv sys system tmp users usr var volumes "

// startsWithPath tells a text that begins with a path from one that begins with an unknown command, by its first word
// (folded, without slash): a usual directory at the root, or Latin letters that Chinese follows without a space, as in
// /tmp还剩多少空间. No command is called like that. The file system is not asked: whoever types here may not look into it.
func startsWithPath(word string) bool {
	if strings.Contains(topDirs, " "+word+" ") {
		return true
	}
	i := strings.IndexFunc(word, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	return i > 0 && word[i-1] < utf8.RuneSelf
}

func afterSeparator(s string) string {
	if rest, ok := strings.CutPrefix(s, "\r\n"); ok {
		return rest
	}
	_, n := utf8.DecodeRuneInString(s)
	return s[n:]
}

// nearest is the candidate that a name was most likely meant to be, or "": within two edits and fewer than the name has
// characters, or the only one that starts with it.
func nearest(name string, candidates []string) string {
	best, distance := "", 3
	var starting []string
	for _, c := range candidates {
		if d := edits(name, c); d < distance && d < utf8.RuneCountInString(name) {
			best, distance = c, d
		}
		if strings.HasPrefix(c, name) || strings.HasPrefix(name, c) {
			starting = append(starting, c)
		}
	}
	if best == "" && len(starting) == 1 {
		return starting[0]
	}
	return best
}

// edits is the number of characters to insert, delete or replace to get from a to b.
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, f := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, t := range to {
			cost := diagonal
			if f != t {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

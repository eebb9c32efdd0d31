package guard

import (
	"path/filepath"
	"strings"

	"github.com/maishell/maishell/guard/paths"
	"github.com/maishell/maishell/policy"
)

// words judges what a command names.
func (t *text) words(u *use) {
	if u.kind == speaker {
		return
	}
	for _, w := range u.args {
		if t.spent() {
			return
		}
		for _, p := range t.paths(w) {
			switch r := t.relate(p); {
			case r == own && p.tail:
				t.confirm("guard.own_mention", w.Text)
			case r == own:
				t.names(u, w)
			case p.tail:
			case u.kind == reader:
				if strings.HasPrefix(p.text, "/proc/") && t.handle(p.text) {
					t.confirm("guard.own_read", w.Text)
				}
			case r != apart && !p.pattern && u.name != "mkdir" && t.v.turns(p.text):
				t.deny(RuleOwnFiles, "guard.own_parent", w.Text)
			case t.process(p.text) && (!p.guess || t.handle(p.text)):
				t.deny(RuleOwnProcess, "guard.own_process")
			}
		}
		if name, ok := t.mentioned(w.Text); ok && u.kind != reader {
			t.mentions(u, name)
		}
	}
	if u.name == "git" && u.cleans() {
		for _, dir := range t.bases {
			if t.v.relate(dir) != apart {
				t.confirm("guard.own_parent", dir)
			}
		}
	}
	for _, w := range u.targets() {
		for _, p := range t.paths(w) {
			if !p.tail && t.relate(p) != apart {
				t.deny(RuleOwnFiles, "guard.own_parent", w.Text)
			}
		}
	}
	t.receives(u)
}

// names judges a command that names an own file.
func (t *text) names(u *use, w policy.Word) {
	if u.kind == reader {
		t.confirm("guard.own_read", w.Text)
		return
	}
	t.deny(RuleOwnFiles, "guard.own_use", w.Text, u.name)
}

// mentions judges a word in which an own path stands as part of something else. For a program that runs its words
// that is as good as naming it; anywhere else it may be a message.
func (t *text) mentions(u *use, name string) {
	if u.kind == interpreter {
		t.deny(RuleOwnFiles, "guard.own_use", name, u.name)
		return
	}
	t.confirm("guard.own_mention", name)
}

// receives judges a command that makes files in a directory without naming them one by one. The names of what comes from
// an expansion are not known: everyday use is full of cp "$f" . and the like.
func (t *text) receives(u *use) {
	words, here := u.receives()
	var dirs []candidate
	if here {
		for _, base := range t.bases {
			dirs = append(dirs, candidate{text: base})
		}
	}
	for _, w := range words {
		for _, p := range t.paths(w) {
			if !p.tail && !p.guess {
				dirs = append(dirs, p)
			}
		}
	}
	for _, dir := range dirs {
		if t.relate(dir) != holds {
			continue
		}
		if u.unpacks() {
			t.deny(RuleOwnFiles, "guard.own_parent", dir.text)
			return
		}
		for _, w := range u.args {
			if base, pattern, ok := lastName(w); ok && t.relate(candidate{
				text: filepath.Join(dir.text, base), pattern: pattern || dir.pattern,
			}) == own {
				t.deny(RuleOwnFiles, "guard.own_use", w.Text, u.name)
				return
			}
		}
	}
}

// lastName is the last element of a path, when the text shows it: a name, or a pattern.
func lastName(w policy.Word) (name string, pattern, ok bool) {
	name = strings.TrimRight(w.Text, `"'/`)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if strings.ContainsAny(name, "$`") && !w.Static || name == "" {
		return "", false, false
	}
	if !w.Static {
		name, pattern = unquote(name, nil)
		return name, pattern, true
	}
	return name, w.Glob, true
}

// relate says how a path or pattern stands to the own files.
func (t *text) relate(p candidate) relation {
	switch {
	case p.tail:
		return t.v.tail(filepath.Base(p.text))
	case p.pattern:
		return t.v.glob(p.text)
	case t.absent(p.text):
		return apart
	}
	return t.v.relate(p.text)
}

// absent answers the common case without looking at the own files: a word that is no file and could not become an own
// one.
func (t *text) absent(path string) bool {
	if t.v.ready || t.inOwn {
		return false
	}
	dir, base := filepath.Split(path)
	if filepath.Clean(dir) != t.cwd || base == "" || base == "." || base == ".." || t.v.own.named(base) {
		return false
	}
	return !t.v.w.Exists(filepath.Join(t.cwd, base))
}

// named reports whether an own file or directory has this name, wherever it is.
func (o *OwnFiles) named(base string) bool {
	for _, list := range [][]string{o.files, o.dirs} {
		for _, p := range list {
			if strings.EqualFold(filepath.Base(p), paths.EntryName(base)) {
				return true
			}
		}
	}
	return false
}

// tail judges a path of which only the last name is known: it may be that of an own file. No more than a question can
// come of that.
func (v *view) tail(base string) relation {
	if v.own.named(base) {
		return own
	}
	return apart
}

// mentioned finds an own path inside a text, in whatever case.
func (t *text) mentioned(s string) (string, bool) {
	if len(s) < 2 {
		return "", false
	}
	lower := strings.ToLower(s)
	for _, list := range [][]string{t.v.own.files, t.v.own.dirs} {
		for _, p := range list {
			if i := strings.Index(lower, strings.ToLower(p)); i >= 0 && !continues(lower[i+len(p):]) {
				return p, true
			}
		}
	}
	for _, p := range t.v.own.files { // by its bare name, from the directory that it is in
		base := filepath.Base(p)
		if i := strings.Index(lower, strings.ToLower(base)); i >= 0 && !continues(lower[i+len(base):]) && t.in(filepath.Dir(p)) {
			return p, true
		}
	}
	return "", false
}

// continues reports whether a name goes on.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c == '_' || c == '-' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

func (t *text) in(dir string) bool {
	for _, base := range t.bases {
		if paths.Key(filepath.Clean(base)) == paths.Key(filepath.Clean(dir)) {
			return true
		}
	}
	return false
}

// unquote reads source text: quotes are dropped, known variables replaced, every other expansion is a wildcard.
func unquote(s string, known map[string]string) (string, bool) {
	var b strings.Builder
	pattern := false
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			i++
		case c == '\\' && i+1 < len(s):
			b.WriteByte(s[i+1])
			i += 2
		case c == '$' || c == '`':
			name, end := expansion(s, i)
			i = end
			if value := known[name]; value != "" {
				b.WriteString(value)
				continue
			}
			b.WriteByte('*')
			pattern = true
		default:
			pattern = pattern || strings.IndexByte("*?[{(", c) >= 0
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), pattern
}

// expansion reads $name, ${...}, $(...) or `...` at i: the name of a plain variable, and where it ends.
func expansion(s string, i int) (name string, end int) {
	if s[i] == '`' {
		if n := strings.IndexByte(s[i+1:], '`'); n >= 0 {
			return "", i + n + 2
		}
		return "", len(s)
	}
	if i+1 == len(s) {
		return "", len(s)
	}
	closing := map[byte]byte{'{': '}', '(': ')'}[s[i+1]]
	if closing == 0 {
		end = i + 1
		for end < len(s) && (s[end] == '_' || s[end] >= '0' && s[end] <= '9' || s[end]|0x20 >= 'a' && s[end]|0x20 <= 'z') {
			end++
		}
		if end == i+1 {
			end++ // $? and its kind
		}
		return s[i+1 : end], end
	}
	depth := 0
	for end = i + 1; end < len(s); end++ {
		switch s[end] {
		case s[i+1]:
			depth++
		case closing:
			depth--
		}
		if depth == 0 {
			return s[i+2 : end], end + 1
		}
	}
	return "", len(s)
}

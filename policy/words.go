package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/maishell/maishell/policy/variables"
)

const (
	maxBraces     = 4096 // words that brace expansion may make in one text
	maxBraceMarks = 64   // opening braces in one word
)

// list reads the words of a command.
func (r *reader) list(words []*syntax.Word) []Word {
	out := make([]Word, 0, len(words))
	for _, w := range words {
		out = append(out, r.fields(w)...)
	}
	return out
}

// fields reads one word of a command: braces may make several of it, an empty tracked variable none.
func (r *reader) fields(w *syntax.Word) []Word {
	if !r.node(w) {
		return nil
	}
	r.visitParts(w.Parts)
	split, many := r.braceSplit(w)
	if split == nil && !many {
		return r.expandTracked(w)
	}
	if many {
		return []Word{{Text: r.source(w), Many: true}}
	}
	var out []Word
	for _, s := range split {
		out = append(out, r.expandTracked(s)...)
	}
	return out
}

// braceSplit returns the words of a brace expansion, nil when there is none; many: there is one, but it stays unread.
func (r *reader) braceSplit(w *syntax.Word) (split []*syntax.Word, many bool) {
	marks := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			marks += strings.Count(lit.Value, "{")
		}
	}
	if marks == 0 {
		return nil, false
	}
	if marks > maxBraceMarks {
		r.opaque("policy.opaque_braces")
		return nil, true
	}
	// A copy: SplitBraces changes its word, and the tree is printed later.
	cp := &syntax.Word{Parts: slices.Clone(w.Parts)}
	if !syntax.SplitBraces(cp) {
		return nil, false
	}
	if r.d != Bash {
		// The shell may be one that expands braces, or not.
		return nil, true
	}
	for one, err := range expand.BracesSeq(nil, cp) {
		if r.braces++; err != nil || r.braces > maxBraces || !r.node(w) || one == nil {
			r.opaque("policy.opaque_braces")
			return nil, true
		}
		split = append(split, one)
	}
	return split, false
}

// expandTracked reads a word whose whole text is one unquoted tracked variable as the words of its value.
func (r *reader) expandTracked(w *syntax.Word) []Word {
	if len(w.Parts) == 1 {
		if pe, ok := w.Parts[0].(*syntax.ParamExp); ok {
			if v, ok := r.value(pe); ok {
				var out []Word
				for _, f := range strings.Fields(v) {
					out = append(out, Word{
						Text: f, Static: true, Tracked: true,
						Glob: strings.ContainsAny(f, "*?[\\"), Many: strings.ContainsAny(f, "*?["),
					})
				}
				return out
			}
		}
	}
	return []Word{r.wordText(w)}
}

// single reads a word that is never split: a value, a redirection's target.
func (r *reader) single(w *syntax.Word) Word {
	if !r.node(w) {
		return Word{}
	}
	r.visitParts(w.Parts)
	return r.wordText(w)
}

// wordText removes the quotes. It does not visit what is inside expansions.
func (r *reader) wordText(w *syntax.Word) Word {
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, "\\*?[$") {
			return Word{Text: lit.Value, Static: true}
		}
	}
	b := wordBuilder{r: r}
	for i, p := range w.Parts {
		var next syntax.WordPart
		if i+1 < len(w.Parts) {
			next = w.Parts[i+1]
		}
		b.part(p, next)
	}
	if b.dynamic {
		text := r.source(w)
		if text == "" {
			text = b.text.String()
		}
		return Word{Text: text, Glob: b.glob, Many: b.many}
	}
	return Word{Text: b.text.String(), Static: true, Glob: b.glob, Many: b.many, Tracked: b.tracked}
}

type wordBuilder struct {
	r                            *reader
	text                         strings.Builder
	dynamic, glob, many, tracked bool
}

func (b *wordBuilder) part(p, next syntax.WordPart) {
	switch p := p.(type) {
	case *syntax.Lit:
		b.literal(p.Value, next)
	case *syntax.SglQuoted:
		switch {
		case !p.Dollar:
			b.text.WriteString(p.Value)
		case b.r.d == Bash:
			b.text.WriteString(ansiC(p.Value))
		default: // some shells know $'...', some do not
			b.dynamic = true
		}
	case *syntax.DblQuoted:
		if p.Dollar && b.r.d != Bash {
			b.dynamic = true
		}
		for _, q := range p.Parts {
			b.quoted(q, "$`\"\\\n")
		}
	case *syntax.ParamExp:
		v, ok := b.r.value(p)
		if ok && v != "" && !strings.ContainsAny(v, " \t\n*?[\\") {
			b.text.WriteString(v)
			b.tracked = true
			return
		}
		b.dynamic, b.many = true, true
	case *syntax.ExtGlob:
		b.dynamic, b.glob, b.many = true, true, true
	case *syntax.ArithmExp, *syntax.ProcSubst:
		b.dynamic = true
	default: // CmdSubst; whatever else there is
		b.dynamic, b.many = true, true
	}
}

// quoted reads a part inside double quotes or a here-document; escaped lists what a backslash protects there.
func (b *wordBuilder) quoted(p syntax.WordPart, escaped string) {
	switch p := p.(type) {
	case *syntax.Lit:
		for i := 0; i < len(p.Value); i++ {
			c := p.Value[i]
			if c == '\\' && i+1 < len(p.Value) && strings.IndexByte(escaped, p.Value[i+1]) >= 0 {
				i++
				c = p.Value[i]
				if c == '\n' {
					continue
				}
			}
			b.text.WriteByte(c)
		}
	case *syntax.ParamExp:
		if v, ok := b.r.value(p); ok {
			b.text.WriteString(v)
			b.tracked = true
			return
		}
		b.dynamic = true
		b.text.WriteString(b.r.source(p))
		// "$@" and "${a[@]}" are several words, or none.
		b.many = b.many || p.Param == nil || p.Param.Value == "@" || p.Index != nil || p.Excl
	default:
		b.dynamic = true
		b.text.WriteString(b.r.source(p))
	}
}

// literal reads unquoted text.
func (b *wordBuilder) literal(s string, next syntax.WordPart) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			if i+1 < len(s) {
				i++
				c = s[i]
			}
		case '*', '?':
			b.glob, b.many = true, true
		case '[':
			if next != nil || strings.IndexByte(s[i:], ']') > 0 {
				b.glob, b.many = true, true
			}
		case '$':
			// In POSIX the parser leaves $'..', $".." and $[..] as text; other shells do not.
			if b.r.d != Bash && (i+1 < len(s) && s[i+1] == '[' || i+1 == len(s) && opensAfterDollar(next)) {
				b.dynamic = true
			}
		}
		b.text.WriteByte(c)
	}
}

// opensAfterDollar reports a part that makes $'...', $"..." or $[...] of a dollar sign before it.
func opensAfterDollar(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	case *syntax.Lit:
		return strings.HasPrefix(p.Value, "[")
	}
	return false
}

// value is a tracked variable's value.
func (r *reader) value(pe *syntax.ParamExp) (string, bool) {
	if r.vars == nil || r.inFunc > 0 || !variables.PlainParam(pe) {
		return "", false
	}
	v, ok := r.vars[pe.Param.Value]
	return v, ok
}

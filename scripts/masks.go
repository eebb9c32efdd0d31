package scripts

import (
	"errors"
	"regexp/syntax"
	"unicode"

	"github.com/maishell/maishell/redact"
)

const (
	maxPrefixes = 64
	minPrefix   = 2 // characters
	maxPrefix   = 32
)

// newMask makes a pattern of the secret filter from a script's mask.
func newMask(d maskDef) (redact.Pattern, error) {
	tree, err := syntax.Parse(d.expr, syntax.Perl)
	if err != nil {
		return redact.Pattern{}, err
	}
	if size(tree) > maxProgram {
		return redact.Pattern{}, errors.New("it is too large: its repeats multiply")
	}
	prefixes, _ := beginnings(tree.Simplify())
	if len(prefixes) == 0 {
		return redact.Pattern{}, errors.New(`it must begin with at least two letters, digits or signs that are fixed, such as "ghp_"`)
	}
	p := redact.Pattern{Name: d.name, Expr: d.expr, Replace: d.shown}
	for _, prefix := range prefixes {
		if len([]rune(prefix)) < minPrefix {
			return redact.Pattern{}, errors.New(`it must begin with at least two letters, digits or signs that are fixed, such as "ghp_"`)
		}
		p.Prefixes = append(p.Prefixes, prefix)
	}
	_, err = redact.New(redact.Options{Patterns: []redact.Pattern{p}})
	return p, err
}

// beginnings lists the texts that a match can begin with. exact says that they are all of the match, so that what
// follows can be joined on. Nil: anything.
func beginnings(re *syntax.Regexp) (list []string, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpCharClass:
		return class(re)
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpPlus:
		list, _ = beginnings(re.Sub[0])
		return list, false
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			l, e := beginnings(sub)
			if l == nil || len(list)+len(l) > maxPrefixes {
				return nil, false
			}
			list, exact = append(list, l...), exact && e
		}
		return list, exact
	case syntax.OpQuest:
		l, e := beginnings(re.Sub[0])
		if l == nil {
			return nil, false
		}
		return append([]string{""}, l...), e
	case syntax.OpConcat:
		return joined(re.Sub)
	}
	return nil, false
}

func joined(subs []*syntax.Regexp) ([]string, bool) {
	list, exact := []string{""}, true
	for _, sub := range subs {
		next, e := beginnings(sub)
		if next == nil || len(list)*len(next) > maxPrefixes {
			exact = false
			break
		}
		var out []string
		for _, a := range list {
			for _, b := range next {
				if len(a)+len(b) > maxPrefix {
					return list, false
				}
				out = append(out, a+b)
			}
		}
		if list = out; !e {
			exact = false
			break
		}
	}
	return list, exact
}

// literal is a fixed text. The filter ignores the case of ASCII letters in prefixes; other letters must be exact.
func literal(re *syntax.Regexp) ([]string, bool) {
	if re.Flags&syntax.FoldCase != 0 {
		for i, r := range re.Rune {
			// k and s have spellings beyond ASCII.
			if r > unicode.MaxASCII || r|0x20 == 'k' || r|0x20 == 's' {
				if i == 0 {
					return nil, false
				}
				return []string{string(re.Rune[:i])}, false
			}
		}
	}
	n := min(len(re.Rune), maxPrefix/4)
	return []string{string(re.Rune[:n])}, n == len(re.Rune)
}

// class is a small set of characters.
func class(re *syntax.Regexp) ([]string, bool) {
	var out []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		if int(re.Rune[i+1]-re.Rune[i])+len(out) >= 16 {
			return nil, false
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			out = append(out, string(r))
		}
	}
	return out, true
}

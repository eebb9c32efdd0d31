package variables

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// computed says what a value that is not static gives: the result of arithmetic, a length, a counting command's output.
func (f *Facts) computed(parts []syntax.WordPart) valueKind {
	if len(parts) != 1 {
		return other
	}
	switch p := parts[0].(type) {
	case *syntax.ArithmExp:
		return result
	case *syntax.DblQuoted:
		return f.computed(p.Parts)
	case *syntax.ParamExp:
		if p.Length {
			return result
		}
	case *syntax.CmdSubst:
		if counts(p) {
			return counted
		}
	}
	return other
}

// counts reports a command substitution that surely prints a number: $(date +%s), $(... | wc -l), $(nproc), $(id -u).
func counts(c *syntax.CmdSubst) bool {
	if len(c.Stmts) != 1 {
		return false
	}
	s := c.Stmts[0]
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe {
		s = b.Y
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return false
	}
	for _, rd := range s.Redirs {
		if rd.Op != syntax.RdrIn {
			return false
		}
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		words[i] = w.Lit()
	}
	switch strings.Join(words, " ") {
	case "date +%s", "date +%s%N", "date +%s%3N", "wc -l", "wc -c", "wc -w", "wc -m", "nproc", "id -u", "id -g":
		return true
	}
	return false
}

// Numeric reports that evaluating these parts as arithmetic reads only numbers.
func (f *Facts) Numeric(parts []syntax.WordPart) bool {
	for _, p := range parts {
		ok := false
		switch p := p.(type) {
		case *syntax.Lit:
			ok = f.numericText(p.Value)
		case *syntax.SglQuoted:
			ok = f.numericText(p.Value)
		case *syntax.DblQuoted:
			ok = f.Numeric(p.Parts)
		case *syntax.ArithmExp:
			ok = true
		case *syntax.ParamExp:
			if p.Length {
				ok = true
			} else if !p.Dollar.IsValid() && p.Index != nil {
				ok = false // a[i]: the elements' texts are not known
			} else {
				ok = PlainParam(p) && f.number(p.Param.Value)
			}
		case *syntax.CmdSubst:
			ok = counts(p) && !f.funcs
		}
		if !ok {
			return false
		}
	}
	return true
}

// numericText reports an expression text whose names are all numbers.
func (f *Facts) numericText(s string) bool {
	if strings.ContainsAny(s, "$`[\\") {
		return false
	}
	word := func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '#' || r == '@'
	}
	for _, name := range strings.FieldsFunc(s, func(r rune) bool { return !word(r) }) {
		if (name[0] < '0' || name[0] > '9') && !f.number(name) {
			return false
		}
	}
	return true
}

// arithmetic notes assignments inside arithmetic: their results are numbers.
func (f *Facts) arithmetic(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.BinaryArithm:
		switch n.Op {
		case syntax.Assgn:
			kind := result
			if w, ok := n.Y.(*syntax.Word); ok && isNumber(w.Lit()) {
				kind = digit
			}
			f.assignNumber(n.X, kind)
		case syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
			syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
			f.assignNumber(n.X, result)
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			f.assignNumber(n.X, result)
		}
	}
}

func (f *Facts) assignNumber(x syntax.ArithmExpr, kind valueKind) {
	w, ok := x.(*syntax.Word)
	if !ok || w.Lit() == "" {
		f.wild = true
		return
	}
	f.record(w.Lit(), kind, false)
}

// PlainParam reports $x or ${x} and nothing more.
func PlainParam(pe *syntax.ParamExp) bool {
	return pe.Param != nil && pe.Flags == nil && !pe.Excl && !pe.Length && !pe.Width && !pe.IsSet &&
		pe.NestedParam == nil && pe.Index == nil && len(pe.Modifiers) == 0 && pe.Slice == nil &&
		pe.Repl == nil && pe.Names == 0 && pe.Exp == nil
}

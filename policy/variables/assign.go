package variables

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assigns reports builtins that can set variables which their arguments name.
func assigns(program string) bool {
	switch program {
	case "eval", ".", "source", "command", "builtin", "trap", "alias", "readonly", "read", "mapfile", "readarray",
		"getopts", "unset", "export", "local", "declare", "typeset", "wait", "let", "printf":
		return true
	}
	return false
}

// assigner notes what a builtin may assign.
func (f *Facts) assigner(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return
	}
	name, ok := literalText(c.Args[0])
	if !ok {
		if v := soleParam(c.Args[0]); v != "" {
			f.programs[v] = true
		} else {
			f.wild = true
		}
		return
	}
	switch name {
	case "eval", ".", "source", "command", "builtin", "trap", "alias", "readonly":
		f.wild = true
		return
	case "printf":
		if len(c.Args) > 1 {
			if option, ok := literalText(c.Args[1]); ok && !strings.HasPrefix(option, "-v") {
				return
			}
		}
	}
	if !assigns(name) {
		return
	}
	for _, w := range c.Args[1:] {
		arg, ok := literalText(w)
		if !ok {
			f.wild = true
			return
		}
		arg = strings.TrimPrefix(arg, "-v")
		if i := strings.IndexAny(arg, "=+[-*/"); i >= 0 {
			arg = arg[:i]
		}
		f.record(arg, other, false)
	}
}

// soleParam is the name of a word that is one plain expansion, quoted or not.
func soleParam(w *syntax.Word) string {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) == 1 {
		if pe, ok := parts[0].(*syntax.ParamExp); ok && PlainParam(pe) {
			return pe.Param.Value
		}
	}
	return ""
}

// valueText is the value of an assignment of a static word.
func (f *Facts) valueText(as *syntax.Assign, kind valueKind) (string, bool) {
	if kind != text || as.Value == nil {
		return "", false
	}
	v, ok := literalText(as.Value)
	if !ok {
		f.programs[""] = true // not read here: no program may come from a variable
	}
	return v, ok
}

// literalText is a word's text when nothing in it needs expanding.
func literalText(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?{$") || strings.Contains(p.Value, "[") && len(p.Value) > 1 {
				return "", false
			}
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := literalText(&syntax.Word{Parts: p.Parts})
			if !ok {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// isNumberItem reports 12 or, in bash, {1..5}.
func isNumberItem(s string, bash bool) bool {
	if in, ok := strings.CutPrefix(s, "{"); ok && bash {
		in, ok = strings.CutSuffix(in, "}")
		parts := strings.Split(in, "..")
		if !ok || len(parts) < 2 || len(parts) > 3 {
			return false
		}
		for _, p := range parts {
			if !isNumber(strings.TrimPrefix(p, "-")) {
				return false
			}
		}
		return true
	}
	return isNumber(strings.TrimPrefix(s, "-"))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// kind says what an assignment gives.
func (f *Facts) kind(as *syntax.Assign) valueKind {
	if as.Array != nil || as.Index != nil || as.Append || as.Naked {
		return other
	}
	if as.Value == nil {
		return text // NAME= is the empty text, which counts as 0 but is not kept as a number
	}
	static := true
	for _, p := range as.Value.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			static = static && !strings.ContainsAny(p.Value, "*?[~$")
		case *syntax.SglQuoted:
			static = static && (!p.Dollar || f.bash)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				_, lit := q.(*syntax.Lit)
				static = static && lit && !p.Dollar
			}
		default:
			static = false
		}
	}
	switch {
	case static && isNumber(as.Value.Lit()):
		return digit
	case static:
		return text
	}
	return f.computed(as.Value.Parts)
}

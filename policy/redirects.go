package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (r *reader) redirects(list []*syntax.Redirect) []Redirect {
	var out []Redirect
	for _, rd := range list {
		if !r.node(rd) {
			return out
		}
		x := Redirect{Op: rd.Op.String()}
		if rd.N != nil {
			x.FD = rd.N.Value
		}
		if rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc {
			x.Target = r.wordText(rd.Word)
			if rd.Hdoc != nil {
				x.Body = r.heredoc(rd)
			}
			out = append(out, x)
			continue
		}
		x.Target = r.single(rd.Word)
		switch rd.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			x.Writes = true
		case syntax.RdrIn:
			x.Reads = true
		case syntax.RdrInOut:
			x.Reads, x.Writes = true, true
		case syntax.DplIn:
			x.Reads = !isDescriptor(x.Target)
		case syntax.DplOut:
			x.Writes = !isDescriptor(x.Target)
		case syntax.WordHdoc:
			x.Body = x.Target
		default:
			r.refuse("policy.unknown_syntax", rd.Pos())
		}
		out = append(out, x)
	}
	return out
}

// isDescriptor reports the target of a duplication: 1, 2-, - ... Anything else is a file in bash.
func isDescriptor(w Word) bool {
	return w.plain() && w.Text != "" && strings.Trim(strings.TrimSuffix(w.Text, "-"), "0123456789") == ""
}

// heredoc reads the body of a here-document; with a quoted delimiter it is as it stands.
func (r *reader) heredoc(rd *syntax.Redirect) Word {
	if !r.node(rd.Hdoc) {
		return Word{}
	}
	raw := strings.ContainsAny(r.delimiter(rd), `'"\`)
	b := wordBuilder{r: r}
	for _, p := range rd.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok && raw {
			b.text.WriteString(lit.Value)
			continue
		}
		b.quoted(p, "$`\\\n")
	}
	r.visitParts(rd.Hdoc.Parts)
	text := b.text.String()
	if rd.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimLeft(line, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return Word{Text: text, Static: !b.dynamic, Tracked: b.tracked && !b.dynamic}
}

// delimiter is the delimiter word with its quotes.
func (r *reader) delimiter(rd *syntax.Redirect) string {
	var b strings.Builder
	for _, p := range rd.Word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		default:
			b.WriteByte('"')
		}
	}
	return b.String()
}

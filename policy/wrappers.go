package policy

import (
	"strings"

	"github.com/maishell/maishell/policy/programs"
)

// unwrap adds the command behind a wrapper.
func (r *reader) unwrap(c Command, name string, g programs.Grammar) {
	p := &argReader{r: r, g: g, words: c.Args}
	p.options()
	if p.query {
		return
	}
	inner := Command{Program: Word{Static: true}, Pos: c.Pos, Via: append(c.Via[:len(c.Via):len(c.Via)], name)}
	for g.Assigns && len(p.words) > 0 {
		key, value, ok := strings.Cut(p.words[0].Text, "=")
		if !ok || strings.HasPrefix(p.words[0].Text, "=") || p.words[0].Many {
			break
		}
		if programs.Hijacks(key) {
			r.opaque("policy.opaque_variable")
		}
		inner.Assigns = append(inner.Assigns, Assign{Name: key, Value: Word{Text: value, Static: p.words[0].Static}})
		p.words = p.words[1:]
	}
	for range g.Operands {
		if len(p.words) > 0 {
			p.dynamicOperand()
			p.words = p.words[1:]
		}
	}
	if len(p.words) == 0 {
		if g.Alone || p.opensShell {
			r.opaque("policy.opaque_shell_input")
		}
		return
	}
	if g.Text {
		r.innerTextOf(p.words, POSIX, inner.Via)
		return
	}
	inner.Program, inner.Args = p.words[0], p.words[1:]
	if g.Stdin {
		inner = fromStdin(inner, p.replace)
	}
	r.add(inner)
}

// add lists a command found behind another and looks at what that one runs.
func (r *reader) add(c Command) {
	if len(c.Via) > 4*maxNested || len(r.a.Commands) > maxNodes {
		r.opaque("policy.opaque_depth")
		return
	}
	r.a.Commands = append(r.a.Commands, c)
	r.inspect(c)
}

// fromStdin marks what xargs puts in: words at the end, or for the replaced text.
func fromStdin(c Command, replace string) Command {
	if replace == "" {
		c.Args = append(c.Args[:len(c.Args):len(c.Args)], Word{Many: true})
		return c
	}
	c.Program = replaced(c.Program, replace)
	args := make([]Word, len(c.Args))
	for i, w := range c.Args {
		args[i] = replaced(w, replace)
	}
	c.Args = args
	return c
}

func replaced(w Word, mark string) Word {
	if strings.Contains(w.Text, mark) {
		w.Static = false
	}
	return w
}

// argReader walks a wrapper's options.
type argReader struct {
	r       *reader
	g       programs.Grammar
	words   []Word
	query   bool   // runs nothing
	replace string // xargs -I
	// opensShell: sudo -s, sudo -i
	opensShell bool
}

// options consumes the options; words then starts at the operands.
func (p *argReader) options() {
	for len(p.words) > 0 {
		w := p.words[0]
		if p.g.Operands == 0 || strings.HasPrefix(w.Text, "-") {
			p.dynamicOperand()
		}
		if !w.Static || !strings.HasPrefix(w.Text, "-") {
			return
		}
		p.words = p.words[1:]
		switch {
		case w.Text == "--":
			return
		case w.Text == "-":
			if !p.g.Assigns { // env - is env -i
				p.r.opaque("policy.opaque_option")
			}
		case strings.HasPrefix(w.Text, "--"):
			p.long(w.Text[2:])
		default:
			p.short(w.Text[1:])
		}
	}
}

// dynamicOperand: a word that may become several, or an option, hides where the command starts.
func (p *argReader) dynamicOperand() {
	w := p.words[0]
	if w.Many || !w.Static && couldStartDash(w) {
		p.r.opaque("policy.opaque_option")
	}
}

// couldStartDash reports a word that is not static and does not begin with text that rules an option out.
func couldStartDash(w Word) bool {
	text := strings.TrimLeft(w.Text, `"`)
	return text == "" || text[0] == '-' || strings.ContainsRune("$`'\\{*?[", rune(text[0]))
}

func (p *argReader) long(opt string) {
	name, _, attached := strings.Cut(opt, "=")
	switch match(name, p.g.Long, p.g.LongValues) {
	case 1:
		p.opensShell = p.opensShell || name == "shell" || name == "login"
		if name == "replace" {
			p.replace = "{}"
			if attached {
				p.replace = opt[len("replace="):]
			}
		}
	case 2:
		if !attached && len(p.words) > 0 {
			p.words = p.words[1:]
		}
	default:
		if name == "help" || name == "version" {
			p.query = true
			return
		}
		p.r.opaque("policy.opaque_option")
	}
}

// match finds a long option, written in full, in the list without values (1) or with values (2).
func match(name string, lists ...string) int {
	for i, list := range lists {
		for _, have := range strings.Fields(list) {
			if have == name {
				return i + 1
			}
		}
	}
	return 0
}

func (p *argReader) short(cluster string) {
	for i := 0; i < len(cluster); i++ {
		c := cluster[i]
		rest := cluster[i+1:]
		switch {
		case strings.IndexByte(p.g.Flags, c) >= 0:
			p.opensShell = p.opensShell || p.g.Alone && (c == 's' || c == 'i')
		case strings.IndexByte(p.g.Queries, c) >= 0:
			p.query = true
		case strings.IndexByte(p.g.Optional, c) >= 0:
			if c == 'i' {
				p.replace = "{}"
				if rest != "" {
					p.replace = rest
				}
			}
			return
		case strings.IndexByte(p.g.Values, c) >= 0:
			if rest == "" && len(p.words) > 0 {
				p.dynamicOperand()
				rest = p.words[0].Text
				p.words = p.words[1:]
			}
			if p.g.Stdin && (c == 'I' || c == 'J') {
				p.replace = rest
			}
			return
		default:
			p.r.opaque("policy.opaque_option")
		}
	}
}

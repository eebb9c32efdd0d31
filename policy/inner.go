package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/maishell/maishell/policy/programs"
)

// inspect looks at what a command runs beside itself.
func (r *reader) inspect(c Command) {
	if r.refused != nil {
		return
	}
	if c.Program.Text == "" && c.Program.Static && len(c.Args) == 0 {
		return
	}
	if !c.Program.plain() {
		r.opaque("policy.opaque_program")
		return
	}
	name := c.base()
	switch name {
	case "sh", "dash", "ash", "bash", "rbash", "zsh", "ksh", "ksh93", "mksh", "yash", "fish", "csh", "tcsh":
		r.shell(c, name)
		return
	case "eval":
		args := c.Args
		if len(args) > 0 && args[0].Text == "--" {
			args = args[1:]
		}
		r.innerTextOf(args, r.d, via(c, name))
		return
	case "find", "gfind":
		r.find(c, name)
		return
	case "su", "runuser", "script":
		r.commandOption(c, name)
		return
	}
	r.sshOptions(c, name)
	if g, ok := programs.Wrapper(name); ok {
		r.unwrap(c, name, g)
		return
	}
	r.builtin(c, name)
	r.hidden(c, name)
}

// via is the chain of a command found behind c.
func via(c Command, name string) []string { return append(c.Via[:len(c.Via):len(c.Via)], name) }

// innerTextOf reads words that a shell joins with spaces and reads as text: eval, watch, ssh.
func (r *reader) innerTextOf(words []Word, d Dialect, via []string) {
	texts := make([]string, len(words))
	for i, w := range words {
		if !w.plain() || w.Many {
			r.opaque("policy.opaque_text")
			return
		}
		texts[i] = w.Text
	}
	r.embed(strings.Join(texts, " "), d, via)
}

// embed analyses a text inside this one and lists its commands.
func (r *reader) embed(text string, d Dialect, via []string) {
	a := r.nested(text, d, r.depth+1)
	if a == nil {
		r.opaque("policy.opaque_text")
		return
	}
	for _, why := range a.Why {
		r.opaque(why)
	}
	if r.words += len(a.Lists); r.words > maxNodes {
		r.refused = &RefusedError{Code: "policy.too_complex"}
		return
	}
	r.a.Lists = append(r.a.Lists, a.Lists...)
	for _, c := range a.Commands {
		if r.words++; r.words > maxNodes {
			r.refused = &RefusedError{Code: "policy.too_complex", Pos: c.Pos}
			return
		}
		c.Via = slices.Concat(via, c.Via)
		r.a.Commands = append(r.a.Commands, c)
	}
}

// nested analyses an inner text once; nil when it cannot be read or is too much.
func (s *parsing) nested(text string, d Dialect, depth int) *Analysis {
	key := innerText{text, d}
	if a, ok := s.done[key]; ok {
		return a
	}
	if depth > maxNested || s.spent+len(text) > nestedBudget {
		return nil
	}
	s.spent += len(text)
	a, err := s.analyse(text, d, depth)
	if err != nil {
		a = nil
	}
	s.done[key] = a
	return a
}

// shell reads what a shell is told to run: -c TEXT, or a static here-document; anything else it reads is opaque.
func (r *reader) shell(c Command, name string) {
	text, kind := shellText(c.Args)
	switch kind {
	case shellQuery:
		return
	case shellStdin:
		for _, rd := range slices.Backward(c.Redirects) {
			if rd.FD != "" && rd.FD != "0" {
				continue
			}
			if rd.Op == "<<" || rd.Op == "<<-" || rd.Op == "<<<" {
				text, kind = rd.Body, shellGiven
				break
			}
			if rd.Reads || rd.Op == "<&" {
				break
			}
		}
	}
	if kind != shellGiven || !text.plain() || text.Many {
		r.opaque("policy.opaque_shell_input")
		return
	}
	chain := via(c, name)
	switch name {
	case "bash", "rbash":
		r.embed(text.Text, Bash, chain)
	case "sh":
		// It may be bash, or not.
		posix, bash := r.nested(text.Text, POSIX, r.depth+1), r.nested(text.Text, Bash, r.depth+1)
		if posix == nil || bash == nil || !sameCommands(posix.Commands, bash.Commands) {
			r.opaque("policy.opaque_differs")
			r.embed(text.Text, Bash, chain)
		}
		r.embed(text.Text, POSIX, chain)
	case "zsh", "fish", "csh", "tcsh":
		r.opaque("policy.opaque_text") // a grammar of their own
		r.embed(text.Text, POSIX, chain)
	default:
		r.embed(text.Text, POSIX, chain)
	}
}

type shellKind int

const (
	shellOpaque shellKind = iota
	shellQuery            // --version, --help
	shellStdin
	shellGiven
)

// shellText finds the text in a shell's arguments.
func shellText(args []Word) (Word, shellKind) {
	command := false
	for len(args) > 0 {
		w := args[0]
		if !w.plain() || w.Many {
			break
		}
		opt := w.Text
		if len(opt) < 2 || opt[0] != '-' && opt[0] != '+' {
			break
		}
		args = args[1:]
		if opt == "--" {
			break
		}
		if strings.HasPrefix(opt, "--") {
			switch opt {
			case "--version", "--help":
				return Word{}, shellQuery
			case "--norc", "--noprofile", "--posix", "--restricted", "--login", "--verbose", "--noediting":
				continue
			}
			return Word{}, shellOpaque
		}
		for _, ch := range opt[1:] {
			switch ch {
			case 'c':
				command = command || opt[0] == '-'
			case 'o', 'O':
				if len(args) > 0 {
					args = args[1:]
				}
			case 's', 'i':
				return Word{}, shellOpaque
			}
		}
	}
	switch {
	case len(args) > 0 && args[0].Text == "-" && !command:
		return Word{}, shellOpaque
	case command && len(args) > 0:
		return args[0], shellGiven
	case len(args) > 0 || command:
		return Word{}, shellOpaque
	}
	return Word{}, shellStdin
}

// commandOption reads su -c TEXT, script -c TEXT and runuser; without it they start a shell.
func (r *reader) commandOption(c Command, name string) {
	for i, w := range c.Args {
		if !w.plain() || w.Many {
			break
		}
		text, attached := strings.CutPrefix(w.Text, "--command=")
		isCluster := strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--")
		switch {
		case attached:
			r.innerTextOf([]Word{{Text: text, Static: true}}, POSIX, via(c, name))
			return
		case w.Text == "--command" || isCluster && strings.HasSuffix(w.Text, "c"):
			if i+1 < len(c.Args) {
				r.innerTextOf(c.Args[i+1:i+2], POSIX, via(c, name))
				return
			}
		}
	}
	r.opaque("policy.opaque_shell_input")
}

func findRuns() []string { return []string{"-exec", "-execdir", "-ok", "-okdir"} }

// couldMatch reports a pattern that a file of this name matches.
func (w Word) couldMatch(name string) bool {
	ok, err := path.Match(strings.ReplaceAll(w.Text, "[!", "[^"), name)
	return ok || err != nil || !w.Static
}

// find reads -exec and its kin.
func (r *reader) find(c Command, name string) {
	ends := slices.ContainsFunc(c.Args, func(w Word) bool { return w.Text == ";" || w.Text == "+" })
	for i := 0; i < len(c.Args); i++ {
		w := c.Args[i]
		if !w.Static && (w.Many || ends) && couldStartDash(w) || w.Glob && slices.ContainsFunc(findRuns(), w.couldMatch) {
			r.opaque("policy.opaque_option")
			continue
		}
		if !slices.Contains(findRuns(), w.Text) {
			continue
		}
		inner := Command{Program: Word{Static: true}, Pos: c.Pos, Via: via(c, name)}
		var words []Word
		for i++; i < len(c.Args) && c.Args[i].Text != ";"; i++ {
			w := replaced(c.Args[i], "{}")
			if c.Args[i].Text == "+" && len(words) > 0 && !words[len(words)-1].Static {
				words[len(words)-1].Many = true
				break
			}
			words = append(words, w)
		}
		if len(words) > 0 {
			inner.Program, inner.Args = words[0], words[1:]
			r.add(inner)
		}
	}
}

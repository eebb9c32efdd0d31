package policy

import (
	"path"
	"slices"
	"strings"
)

// Analysis is what a text could run, as far as its text tells.
type Analysis struct {
	Commands []Command
	// Lists are the words that for loops go through, those of texts inside this one included.
	Lists []Word
	// Canonical is the text printed from the parsed tree; parsing it gives the same tree.
	Canonical string
	// Opaque: the text can run something that Commands does not show. Why holds the reasons, as message ids.
	Opaque bool
	Why    []string
	// Differs: two ways of reading the text disagree about its commands. Commands holds those of all ways.
	Differs bool
}

// Command is one simple command, or one builtin construct ([[, ((, let, declare ...).
//
// A command of only assignments or redirections has an empty static Program and no Args; so has the redirection of a
// compound command.
type Command struct {
	Program   Word
	Args      []Word
	Assigns   []Assign
	Redirects []Redirect
	Pos       Pos
	// Via is the chain of wrappers that it was found behind, outermost first: ["sudo", "sh"].
	Via []string
}

// Word is one argument after quote removal and, in bash, brace expansion. A leading ~ stays.
type Word struct {
	Text    string // when not Static: the source text
	Static  bool   // Text is what the shell will see, apart from globs
	Glob    bool   // has unquoted pattern characters
	Many    bool   // may become several words, or none
	Tracked bool   // a variable's value known from this text was put in
}

// Assign is NAME=VALUE before a command, alone, or in a declaration.
type Assign struct {
	Name   string
	Value  Word
	Append bool // NAME+=VALUE
	Array  bool // NAME=(...) or NAME[...]=; Value is then the source text
}

// Redirect is one redirection.
type Redirect struct {
	Op     string // "<", ">", ">>", ">|", "<>", "&>", "&>>", "<&", ">&", "<<", "<<-", "<<<"
	FD     string // "2", "{name}"; empty: the operator's default
	Target Word   // file, descriptor, delimiter or here-string
	Body   Word   // text of a here-document; for <<< the same as Target
	Reads  bool   // opens Target for reading
	Writes bool   // opens Target for writing
}

// Runs reports whether the text could run a program of this base name (letter case aside) with these arguments. It
// answers true when it cannot rule that out.
//
// The arguments must appear in this order; before each, options and words that may be an option's value are
// skipped, so that ("kubectl", "apply") is also found in kubectl -n prod apply. An argument that is itself an option
// may stand anywhere after the previous one.
func (a *Analysis) Runs(program string, args ...string) bool {
	if a.Opaque {
		return true
	}
	return slices.ContainsFunc(a.Commands, func(c Command) bool {
		return strings.EqualFold(c.base(), program) && hasArgs(c.Args, args)
	})
}

// base is the program's last path element, "" when the program is not static.
func (c Command) base() string {
	if !c.Program.Static || c.Program.Text == "" {
		return ""
	}
	return path.Base(c.Program.Text)
}

// plain reports a word that is exactly its text.
func (w Word) plain() bool { return w.Static && !w.Glob }

func hasArgs(words []Word, want []string) bool {
	afterOption := false
	for len(want) > 0 {
		if strings.HasPrefix(want[0], "-") {
			if !slices.ContainsFunc(words, func(w Word) bool { return couldBeOption(w, want[0]) }) {
				return false
			}
			want = want[1:]
			continue
		}
		if len(words) == 0 {
			return false
		}
		w := words[0]
		words = words[1:]
		switch {
		case w.Many:
			return true
		case !w.plain() || w.Text == want[0]:
			want = want[1:]
			afterOption = false
		case strings.HasPrefix(w.Text, "-"):
			afterOption = true
		case afterOption:
			afterOption = false
		default:
			return false
		}
	}
	return true
}

func couldBeOption(w Word, option string) bool {
	return !w.plain() || w.Text == option || strings.HasPrefix(w.Text, option+"=")
}

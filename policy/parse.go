package policy

import (
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Dialect is a shell grammar.
type Dialect int

// The dialects. Every shell that is not bash is read as POSIX.
const (
	POSIX Dialect = iota
	Bash
)

// ShellDialect is the dialect of a shell by the base name of its path. An sh that is really bash has to be asked.
func ShellDialect(shell string) Dialect {
	name := path.Base(strings.ReplaceAll(shell, `\`, "/"))
	if strings.TrimSuffix(strings.ToLower(name), ".exe") == "bash" {
		return Bash
	}
	return POSIX
}

// String returns sh or bash.
func (d Dialect) String() string {
	if d == Bash {
		return "bash"
	}
	return "sh"
}

func (d Dialect) variant() syntax.LangVariant {
	if d == Bash {
		return syntax.LangBash
	}
	return syntax.LangPOSIX
}

const (
	maxRounds    = 3        // prints until the canonical text must have settled
	maxNested    = 5        // texts inside texts: sh -c, eval ...
	nestedBudget = MaxBytes // bytes of inner texts analysed per Parse
)

// Parse reads a text of at most MaxBytes. Its errors are *ParseError for what the grammar rejects and *RefusedError
// for everything else.
func Parse(text string, d Dialect) (a *Analysis, err error) {
	// The parser is a third party's and the text is hostile: what it cannot cope with is refused.
	defer func() {
		if r := recover(); r != nil {
			a, err = nil, &RefusedError{Code: "policy.unreadable", Pos: posAt(text, 0)}
		}
	}()
	return (&parsing{done: map[innerText]*Analysis{}}).analyse(text, d, 0)
}

// parsing is what one Parse shares between the text and the texts inside it.
type parsing struct {
	done  map[innerText]*Analysis // inner texts; nil: not readable
	spent int                     // bytes of inner texts
	words int                     // words and statements read
}

type innerText struct {
	text string
	d    Dialect
}

// analyse reads the text as written, then as printed, until the print repeats itself.
func (s *parsing) analyse(text string, d Dialect, depth int) (*Analysis, error) {
	if err := scan(text); err != nil {
		return nil, err
	}
	file, err := parseTree(text, d)
	if err != nil {
		return nil, err
	}
	a, err := s.read(file, text, d, depth)
	if err != nil {
		return nil, err
	}
	if a.Canonical, err = printTree(file); err != nil {
		return nil, err
	}
	// Without its last newline a final backslash means something else.
	if a.Canonical != strings.TrimRight(text, "\n") || strings.HasSuffix(a.Canonical, `\`) {
		if err := s.settle(a, d, depth); err != nil {
			return nil, err
		}
	}
	if strings.Contains(text, "\\\n") {
		if err := s.continued(a, text, d, depth); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// settle analyses the canonical text and prints it again until nothing changes any more.
func (s *parsing) settle(a *Analysis, d Dialect, depth int) error {
	for range maxRounds {
		file, err := parseTree(a.Canonical, d)
		if err != nil {
			break
		}
		b, err := s.read(file, a.Canonical, d, depth)
		if err != nil {
			return err
		}
		a.merge(b, sameCommands)
		again, err := printTree(file)
		if err != nil {
			return err
		}
		if again == a.Canonical {
			return nil
		}
		a.Canonical = again
	}
	return &RefusedError{Code: "policy.no_fixpoint", Pos: posAt(a.Canonical, 0)}
}

// continued looks again at a text with backslash-newlines, the place where parsers and shells disagree most: without
// them it must run the same programs, and none may stand in a comment, where a shell ends the comment and the parser
// joins the lines.
func (s *parsing) continued(a *Analysis, text string, d Dialect, depth int) error {
	if oddNewline(text) {
		a.opaque("policy.opaque_newline")
	}
	views := []string{strings.ReplaceAll(text, "\\\n", "")}
	if strings.Contains(text, "#") {
		ended, found := endComments(text, d)
		if found {
			a.opaque("policy.opaque_newline")
			views = append(views, ended)
		}
	}
	for _, view := range views {
		file, err := parseTree(view, d)
		if err != nil {
			a.opaque("policy.opaque_newline")
			continue
		}
		b, err := s.read(file, view, d, depth)
		if err != nil {
			return err
		}
		a.merge(b, samePrograms)
	}
	return nil
}

// endComments drops the backslash that ends a comment.
func endComments(text string, d Dialect) (string, bool) {
	p := syntax.NewParser(syntax.Variant(d.variant()), syntax.KeepComments(true))
	file, err := p.Parse(newSource(text), "")
	if err != nil {
		return text, true
	}
	ended, found := []byte(text), false
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && strings.HasSuffix(c.Text, "\\\n") {
			start := int(c.Hash.Offset())
			if i := strings.Index(text[min(start, len(text)):], "\\\n"); i >= 0 {
				ended[start+i] = ' '
				found = true
			}
		}
		return true
	})
	return string(ended), found
}

// merge adds what another view of the same text shows.
func (a *Analysis) merge(b *Analysis, same func(a, b []Command) bool) {
	for _, why := range b.Why {
		a.opaque(why)
	}
	if same(a.Commands, b.Commands) {
		return
	}
	a.Differs = true
	a.opaque("policy.opaque_differs")
	a.Commands = append(slices.Clip(a.Commands), b.Commands...)
	a.Lists = append(slices.Clip(a.Lists), b.Lists...)
}

func (a *Analysis) opaque(why string) {
	a.Opaque = true
	if !slices.Contains(a.Why, why) {
		a.Why = append(a.Why, why)
	}
}

// parsers holds one pool for each dialect: a parser carries two buffers of a kilobyte.
var parsers = [...]sync.Pool{
	POSIX: {New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangPOSIX)) }},
	Bash:  {New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }},
}

func parseTree(text string, d Dialect) (*syntax.File, error) {
	pool := &parsers[POSIX]
	if d == Bash {
		pool = &parsers[Bash]
	}
	p, _ := pool.Get().(*syntax.Parser)
	file, err := p.Parse(newSource(text), "")
	pool.Put(p)
	if err == nil {
		return file, nil
	}
	var perr syntax.ParseError
	var lerr syntax.LangError
	var at syntax.Pos
	msg := err.Error()
	switch {
	case errors.As(err, &perr):
		at, msg = perr.Pos, perr.Text
	case errors.As(err, &lerr):
		at, msg = lerr.Pos, strings.TrimPrefix(msg, lerr.Pos.String()+": ")
	case errors.Is(err, deepError{}):
		return nil, &RefusedError{Code: "policy.too_deep", Pos: posAt(text, 0)}
	}
	pos := posAt(text, int(at.Offset()))
	return nil, &ParseError{Shell: d.String(), Line: pos.Line, Col: pos.Col, Msg: msg}
}

// printers: one carries a buffer of four kilobytes.
var printers = sync.Pool{New: func() any { return syntax.NewPrinter() }}

func printTree(file *syntax.File) (string, error) {
	var b strings.Builder
	p, _ := printers.Get().(*syntax.Printer)
	err := p.Print(&b, file)
	printers.Put(p)
	if err != nil {
		return "", &RefusedError{Code: "policy.unreadable", Pos: posAt("", 0)}
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// sameCommands compares without positions, and without the text of words that are not static: a print may space an
// expansion differently.
func sameCommands(a, b []Command) bool {
	return slices.EqualFunc(a, b, func(x, y Command) bool {
		return sameWord(x.Program, y.Program) && slices.EqualFunc(x.Args, y.Args, sameWord) &&
			slices.Equal(x.Via, y.Via) && slices.EqualFunc(x.Redirects, y.Redirects, sameRedirect) &&
			slices.EqualFunc(x.Assigns, y.Assigns, func(v, w Assign) bool {
				return v.Name == w.Name && v.Append == w.Append && v.Array == w.Array && sameWord(v.Value, w.Value)
			})
	})
}

func sameRedirect(v, w Redirect) bool {
	return v.Op == w.Op && v.FD == w.FD && sameWord(v.Target, w.Target) && sameWord(v.Body, w.Body)
}

func sameWord(v, w Word) bool {
	if !v.Static && !w.Static {
		v.Text, w.Text = "", ""
	}
	return v == w
}

// samePrograms compares only what runs and with how many arguments: a quoted word may well hold a backslash-newline.
func samePrograms(a, b []Command) bool {
	return slices.EqualFunc(a, b, func(x, y Command) bool {
		return sameWord(x.Program, y.Program) && len(x.Args) == len(y.Args) && slices.Equal(x.Via, y.Via) &&
			len(x.Redirects) == len(y.Redirects) && len(x.Assigns) == len(y.Assigns)
	})
}

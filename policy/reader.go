package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/maishell/maishell/policy/programs"
	"github.com/maishell/maishell/policy/variables"
)

// reader walks one tree and lists its commands, outer ones before those in their words.
type reader struct {
	*parsing
	a     *Analysis
	file  *syntax.File
	text  string
	d     Dialect
	depth int // texts around this one

	facts   *variables.Facts  // about all assignments of the file; made when first needed
	vars    map[string]string // values known here, of names that facts can vouch for
	clean   bool              // nothing but assignments so far on this line
	unsure  []string          // names whose value holds only to the end of this line
	inFunc  int               // function bodies around here: they run at another time
	braces  int               // words made by brace expansion
	refused error             // the first refusal; ends the reading
}

// read lists the commands of a parsed file.
func (s *parsing) read(file *syntax.File, text string, d Dialect, depth int) (*Analysis, error) {
	r := &reader{parsing: s, a: &Analysis{}, file: file, text: text, d: d, depth: depth}
	r.lines(file.Stmts)
	if r.refused != nil {
		return nil, r.refused
	}
	return r.a, nil
}

func (r *reader) refuse(code string, at syntax.Pos, args ...any) {
	if r.refused == nil {
		r.refused = &RefusedError{Code: code, Pos: posAt(r.text, int(at.Offset())), Args: args}
	}
}

// needFacts makes the facts at the first need: most texts have none.
func (r *reader) needFacts() *variables.Facts {
	if r.facts == nil {
		r.facts = variables.Of(r.file, r.d == Bash)
	}
	return r.facts
}

func (r *reader) opaque(why string) { r.a.opaque(why) }

// node counts one statement or word; too many end the reading.
func (r *reader) node(n syntax.Node) bool {
	if r.words++; r.words > maxNodes {
		r.refuse("policy.too_complex", n.Pos())
	}
	return r.refused == nil
}

// lines reads the main line of the text. An error at run time (a division by zero, a bad index) makes a shell drop the
// rest of the line and go on with the next one: what was assigned after anything that may fail is not known there.
func (r *reader) lines(list []*syntax.Stmt) {
	var end uint
	for i, s := range list {
		start := s.Pos().Line()
		if i == 0 || start > end {
			r.clean = true
		}
		if i == 0 || start != end {
			for _, name := range r.unsure {
				delete(r.vars, name)
			}
			r.unsure = nil
		}
		r.stmt(s)
		end = s.End().Line()
	}
}

func (r *reader) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

func (r *reader) stmt(s *syntax.Stmt) {
	if s == nil || !r.node(s) {
		return
	}
	if s.Coprocess || s.Disown {
		r.refuse("policy.unknown_syntax", s.Pos())
		return
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(cmd, s.Redirs)
		return
	case *syntax.DeclClause:
		r.declare(cmd, s.Redirs)
		return
	}
	r.clean = false
	switch cmd := s.Cmd.(type) {
	case *syntax.TestClause:
		r.construct("[[", cmd, s.Redirs, func() []Word { return r.test(cmd.X) })
		return
	case *syntax.ArithmCmd:
		r.construct("((", cmd, s.Redirs, func() []Word { return []Word{r.arithWord(cmd.X)} })
		return
	case *syntax.LetClause:
		r.construct("let", cmd, s.Redirs, func() (words []Word) {
			for _, x := range cmd.Exprs {
				r.letOperators(x)
				words = append(words, r.arithWord(x))
			}
			return words
		})
		return
	}
	if len(s.Redirs) > 0 {
		i := r.reserve(s)
		c := Command{Program: Word{Static: true}, Redirects: r.redirects(s.Redirs)}
		r.put(i, c)
	}
	if s.Cmd != nil {
		r.compound(s.Cmd)
	}
}

func (r *reader) compound(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.Subshell:
		r.stmts(c.Stmts)
	case *syntax.BinaryCmd:
		r.binary(c)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond)
			r.stmts(c.Then)
		}
	case *syntax.WhileClause:
		r.stmts(c.Cond)
		r.stmts(c.Do)
	case *syntax.ForClause:
		r.loop(c.Loop)
		r.stmts(c.Do)
	case *syntax.CaseClause:
		r.fields(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				r.fields(p)
			}
			r.stmts(item.Stmts)
		}
	case *syntax.FuncDecl:
		r.inFunc++
		r.stmt(c.Body)
		r.inFunc--
	case *syntax.TimeClause:
		r.stmt(c.Stmt)
	case *syntax.CoprocClause:
		if c.Name != nil {
			r.fields(c.Name)
		}
		r.stmt(c.Stmt)
	default:
		r.refuse("policy.unknown_syntax", cmd.Pos())
	}
}

// binary walks a chain of && || | without recursion on its left side, which a parser builds as deep as it is long.
func (r *reader) binary(c *syntax.BinaryCmd) {
	var right []*syntax.Stmt
	for {
		right = append(right, c.Y)
		left, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(c.X.Redirs) > 0 {
			break
		}
		c = left
	}
	r.stmt(c.X)
	for i := len(right) - 1; i >= 0; i-- {
		r.stmt(right[i])
	}
}

func (r *reader) loop(l syntax.Loop) {
	switch l := l.(type) {
	case *syntax.WordIter:
		for _, w := range l.Items {
			r.a.Lists = append(r.a.Lists, r.fields(w)...)
		}
	case *syntax.CStyleLoop:
		r.construct("((", l, nil, func() (words []Word) {
			for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
				if x != nil {
					words = append(words, r.arithWord(x))
				}
			}
			return words
		})
	default:
		r.refuse("policy.unknown_syntax", l.Pos())
	}
}

// reserve keeps a place for a command whose words are read next, so that it stands before the commands inside them.
func (r *reader) reserve(n syntax.Node) int {
	p := n.Pos()
	r.a.Commands = append(r.a.Commands, Command{
		Pos: Pos{Offset: int(p.Offset()), Line: int(p.Line()), Col: int(p.Col())},
	})
	return len(r.a.Commands) - 1
}

// put fills a reserved place and looks at what else the command runs.
func (r *reader) put(i int, c Command) {
	c.Pos = r.a.Commands[i].Pos
	r.a.Commands[i] = c
	r.inspect(c)
}

// call reads a simple command.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	i := r.reserve(c)
	r.clean = r.clean && len(redirs) == 0
	cmd := Command{Program: Word{Static: true}}
	cmd.Assigns = r.assigns(c.Assigns, len(c.Args) == 0)
	r.clean = r.clean && len(c.Args) == 0
	if len(c.Args) == 0 && slices.ContainsFunc(cmd.Assigns, func(a Assign) bool { return !a.Value.Static }) {
		for _, a := range cmd.Assigns { // if one fails, none may be made
			r.unsure = append(r.unsure, a.Name)
		}
	}
	if len(c.Args) > 0 && len(c.Assigns) == 0 && startsAssign(c.Args[0]) {
		// After coproc the parser takes an assignment for the program; a shell does not.
		r.opaque("policy.opaque_program")
	}
	words := r.list(c.Args)
	if len(words) > 0 {
		cmd.Program, cmd.Args = words[0], words[1:]
	}
	cmd.Redirects = r.redirects(redirs)
	r.put(i, cmd)
}

// startsAssign reports a word that begins, unquoted, as NAME=.
func startsAssign(w *syntax.Word) bool {
	if len(w.Parts) == 0 {
		return false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return false
	}
	name, _, found := strings.Cut(lit.Value, "=")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
	return found && syntax.ValidName(name)
}

// construct reads a builtin that has a grammar of its own.
func (r *reader) construct(name string, n syntax.Node, redirs []*syntax.Redirect, args func() []Word) {
	i := r.reserve(n)
	c := Command{Program: Word{Text: name, Static: true}, Args: args()}
	c.Redirects = r.redirects(redirs)
	r.put(i, c)
}

// declare reads export, declare, local ... of the bash grammar.
func (r *reader) declare(c *syntax.DeclClause, redirs []*syntax.Redirect) {
	i := r.reserve(c)
	cmd := Command{Program: Word{Text: c.Variant.Value, Static: true}}
	for _, as := range c.Args {
		r.clean = r.clean && !as.Naked
		switch {
		case as.Naked && as.Name == nil:
			cmd.Args = append(cmd.Args, r.fields(as.Value)...)
		case as.Naked:
			w := Word{Text: r.source(as), Static: as.Index == nil}
			r.arith(as.Index)
			cmd.Args = append(cmd.Args, w)
		default:
			a := r.assigns([]*syntax.Assign{as}, true)
			cmd.Assigns = append(cmd.Assigns, a...)
			cmd.Args = append(cmd.Args, Word{Text: r.source(as)})
			if v := a[0].Value; v.Static && !a[0].Array && !a[0].Append {
				cmd.Args[len(cmd.Args)-1] = Word{Text: a[0].Name + "=" + v.Text, Static: true}
			}
		}
	}
	cmd.Redirects = r.redirects(redirs)
	r.put(i, cmd)
}

// assigns reads assignments; kept tells that they outlive their command.
func (r *reader) assigns(list []*syntax.Assign, kept bool) []Assign {
	var out []Assign
	for _, as := range list {
		if !r.node(as) {
			return out
		}
		a := Assign{Append: as.Append, Array: as.Array != nil || as.Index != nil}
		if as.Name != nil {
			a.Name = as.Name.Value
		}
		if as.Index != nil && !r.needFacts().Associative(a.Name) {
			r.arith(as.Index)
		} else if as.Index != nil {
			r.visitArith(as.Index)
		}
		a.Value = Word{Static: true}
		if as.Value != nil {
			a.Value = r.single(as.Value)
		}
		if as.Array != nil {
			r.array(as.Array, a.Name)
		}
		if a.Array {
			a.Value = Word{Text: r.source(as)}
		}
		if kept {
			r.track(a)
		}
		if programs.Hijacks(a.Name) {
			r.opaque("policy.opaque_variable")
		}
		out = append(out, a)
	}
	return out
}

func (r *reader) array(x *syntax.ArrayExpr, name string) {
	for _, e := range x.Elems {
		if e.Index != nil && !r.needFacts().Associative(name) {
			r.arith(e.Index)
		} else if e.Index != nil {
			r.visitArith(e.Index)
		}
		if e.Value != nil {
			r.fields(e.Value)
		}
	}
}

// track remembers a value that facts can vouch for from here on.
func (r *reader) track(a Assign) {
	r.clean = r.clean && a.Value.Static && !a.Array
	if !strings.Contains(r.text, "$") || !r.needFacts().Constant(a.Name) {
		return
	}
	if !r.clean {
		r.unsure = append(r.unsure, a.Name)
	}
	if r.vars == nil {
		r.vars = map[string]string{}
	}
	r.vars[a.Name] = a.Value.Text
}

// source is a node's own text.
func (r *reader) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(r.text) {
		return ""
	}
	return r.text[from:to]
}

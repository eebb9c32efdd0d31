package variables

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Facts is what a whole file says about its variables. A name is constant between two assignments when every
// assignment to it stands in the main line of the file (not in a loop, condition, function, pipe or subshell) and
// has a static value; it is a number when it is only ever given numbers, the first of them there.
type Facts struct {
	names map[string]*nameFacts
	assoc map[string]bool // declared as associative: subscripts are texts
	wild  bool            // something may assign to any name (eval, source, read into an expansion ...)
	funcs bool            // functions or aliases: a name like date may be anything
	bash  bool

	programs map[string]bool // names that a program word consists of
}

type nameFacts struct {
	notConstant, notNumber bool
	counted                bool // takes the output of a counting command, which a function may shadow
	assigner               bool // has been given the name of something that assigns
}

// Of reads the facts of a file in the bash or the POSIX grammar.
func Of(file *syntax.File, bash bool) *Facts {
	f := &Facts{
		names: map[string]*nameFacts{}, assoc: map[string]bool{}, programs: map[string]bool{}, bash: bash,
	}
	f.mainLine(file.Stmts)
	f.checkPrograms()
	return f
}

// Associative reports an array whose subscripts are texts, not arithmetic.
func (f *Facts) Associative(name string) bool { return f.assoc[name] }

// checkPrograms: a program named by a variable may be one that assigns.
func (f *Facts) checkPrograms() {
	for name := range f.programs {
		if !f.Constant(name) || f.names[name].assigner {
			f.wild = true
			return
		}
	}
}

// Constant reports that each assignment to the name is known exactly.
func (f *Facts) Constant(name string) bool {
	switch name {
	case "_", "UID", "EUID", "PPID", "SHELLOPTS", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "OPTIND", "PWD", "OLDPWD",
		"GROUPS", "DIRSTACK", "FUNCNAME", "HISTCMD", "PIPESTATUS", "EPOCHSECONDS", "EPOCHREALTIME", "IFS":
		return false // the shell has its own idea of these
	}
	n := f.names[name]
	return !f.wild && n != nil && !n.notConstant && f.names["IFS"] == nil && !strings.HasPrefix(name, "BASH")
}

// number reports that the name holds a number wherever it is read.
func (f *Facts) number(name string) bool {
	switch name {
	case "#", "?", "$", "!", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS":
		return f.names[name] == nil
	}
	n := f.names[name]
	return !f.wild && n != nil && !n.notNumber && !(n.counted && f.funcs)
}

type valueKind int

const (
	other   valueKind = iota // anything
	text                     // a static word
	digit                    // a literal number
	result                   // the result of arithmetic
	counted                  // the output of a counting command
)

// record notes an assignment; main tells that it stands in the main line.
func (f *Facts) record(name string, kind valueKind, main bool) {
	n := f.names[name]
	if n == nil {
		// What a name holds before its first assignment is not known, so that one must not read it.
		n = &nameFacts{notNumber: kind != digit && kind != counted}
		f.names[name] = n
	}
	n.notConstant = n.notConstant || !main || kind != text && kind != digit
	n.notNumber = n.notNumber || kind == other || kind == text
	n.counted = n.counted || kind == counted
}

// mainLine follows statements that run exactly once, in order.
func (f *Facts) mainLine(list []*syntax.Stmt) {
	for _, s := range list {
		if s.Background || len(s.Redirs) > 0 {
			f.elsewhere(s) // apart, or not at all when a file cannot be opened
			continue
		}
		switch cmd := s.Cmd.(type) {
		case *syntax.CallExpr:
			if len(cmd.Args) > 0 {
				f.elsewhere(cmd)
				continue
			}
			f.assigns(cmd.Assigns, true)
		case *syntax.DeclClause:
			f.declare(cmd, true)
		case *syntax.Block:
			f.mainLine(cmd.Stmts)
		case *syntax.TimeClause:
			if cmd.Stmt != nil {
				f.mainLine([]*syntax.Stmt{cmd.Stmt})
			}
		case *syntax.ForClause:
			f.loop(cmd, true)
		case *syntax.BinaryCmd:
			f.chain(cmd)
		case nil:
		default:
			f.elsewhere(cmd)
		}
	}
}

// chain: the first command of a && b || c always runs, in this shell; the others may not.
func (f *Facts) chain(c *syntax.BinaryCmd) {
	var right []*syntax.Stmt
	pipe := false
	for {
		pipe = pipe || c.Op != syntax.AndStmt && c.Op != syntax.OrStmt
		right = append(right, c.Y)
		left, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(c.X.Redirs) > 0 {
			break
		}
		c = left
	}
	if pipe {
		f.elsewhere(c.X)
	} else {
		f.mainLine([]*syntax.Stmt{c.X})
	}
	for i := len(right) - 1; i >= 0; i-- {
		f.elsewhere(right[i])
	}
}

// elsewhere notes everything that may be assigned in a part of the tree that runs perhaps, often, or apart.
func (f *Facts) elsewhere(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if _, deep := n.X.Cmd.(*syntax.BinaryCmd); deep {
				f.chainElsewhere(n)
				return false
			}
		case *syntax.Assign:
			if n.Name != nil {
				f.record(n.Name.Value, f.kind(n), false)
			}
		case *syntax.CallExpr:
			f.assigner(n)
		case *syntax.DeclClause:
			f.declare(n, false)
			return false
		case *syntax.ForClause:
			f.loop(n, false)
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
				f.record(n.Param.Value, other, false)
			}
		case *syntax.BinaryArithm, *syntax.UnaryArithm:
			f.arithmetic(n)
		case *syntax.FuncDecl:
			f.funcs = true
		case *syntax.CmdSubst:
			f.wild = f.wild || n.TempFile || n.ReplyVar
		case *syntax.CoprocClause:
			f.record("COPROC", other, false)
			if n.Name != nil {
				f.record(n.Name.Lit(), other, false)
			}
		case *syntax.Redirect:
			if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
				f.record(strings.Trim(n.N.Value, "{}"), other, false)
			}
		}
		return true
	})
}

// chainElsewhere keeps a long chain from becoming a deep recursion.
func (f *Facts) chainElsewhere(c *syntax.BinaryCmd) {
	for {
		f.elsewhere(c.Y)
		left, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(c.X.Redirs) > 0 {
			f.elsewhere(c.X)
			return
		}
		c = left
	}
}

func (f *Facts) assigns(list []*syntax.Assign, main bool) {
	for _, as := range list {
		if as.Name != nil {
			kind := f.kind(as)
			f.record(as.Name.Value, kind, main)
			if v, ok := f.valueText(as, kind); ok {
				if first := strings.Fields(v); len(first) > 0 && assigns(path.Base(first[0])) {
					f.names[as.Name.Value].assigner = true
				}
			}
		}
		if as.Value != nil {
			f.elsewhere(as.Value)
		}
		if as.Array != nil {
			f.elsewhere(as.Array)
		}
		if as.Index != nil {
			f.elsewhere(as.Index)
		}
	}
}

func (f *Facts) declare(c *syntax.DeclClause, main bool) {
	assoc := false
	f.wild = f.wild || c.Variant.Value == "readonly" || c.Variant.Value == "nameref"
	for _, as := range c.Args {
		if !as.Naked || as.Name != nil {
			f.assigns([]*syntax.Assign{as}, main && c.Variant.Value != "local")
			if assoc && as.Name != nil {
				f.assoc[as.Name.Value] = true
			}
			continue
		}
		option := as.Value.Lit()
		switch {
		case !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "+"):
			f.wild = true // an expansion that may assign
		case strings.ContainsAny(option, "niulcr"):
			f.wild = true // references, values that change as they are assigned or cannot be assigned
		case strings.Contains(option, "A"):
			assoc = true
		}
	}
}

func (f *Facts) loop(c *syntax.ForClause, main bool) {
	if it, ok := c.Loop.(*syntax.WordIter); ok {
		kind := digit
		if len(it.Items) == 0 || c.Select {
			kind = other
		}
		for _, w := range it.Items {
			f.elsewhere(w)
			if !isNumberItem(w.Lit(), f.bash) {
				kind = other
			}
		}
		f.record(it.Name.Value, kind, main)
		f.names[it.Name.Value].notConstant = true // its words in turn
	} else {
		f.elsewhere(c.Loop)
	}
	for _, s := range c.Do {
		f.elsewhere(s)
	}
}

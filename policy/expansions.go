package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// visitParts reads the commands inside the expansions of a word.
func (r *reader) visitParts(parts []syntax.WordPart) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			r.hiddenProcess(p)
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if _, ok := q.(*syntax.Lit); !ok {
					r.visitParts([]syntax.WordPart{q})
				}
			}
		case *syntax.CmdSubst:
			r.stmts(p.Stmts)
		case *syntax.ProcSubst:
			r.stmts(p.Stmts)
		case *syntax.ParamExp:
			r.param(p)
		case *syntax.ArithmExp:
			r.arith(p.X)
		case *syntax.ExtGlob:
			if strings.ContainsAny(p.Pattern.Value, "$`<>'\"") {
				r.opaque("policy.opaque_pattern")
			}
		default:
			r.refuse("policy.unknown_syntax", p.Pos())
		}
	}
}

// hiddenProcess refuses <( and >( in unquoted literal text: bash starts a process there, the parser saw only text.
func (r *reader) hiddenProcess(lit *syntax.Lit) {
	for i := 1; i < len(lit.Value); i++ {
		if lit.Value[i] != '(' || lit.Value[i-1] != '<' && lit.Value[i-1] != '>' {
			continue
		}
		before := lit.Value[:i-1]
		if (len(before)-len(strings.TrimRight(before, `\`)))%2 == 0 {
			r.refuse("policy.procsubst_literal", lit.Pos())
		}
	}
}

// param reads ${...}.
func (r *reader) param(p *syntax.ParamExp) {
	if p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0 || p.Width || p.IsSet {
		r.refuse("policy.unknown_syntax", p.Pos())
		return
	}
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if p.Index != nil && !isAllIndex(p.Index) {
		if r.needFacts().Associative(name) {
			r.visitArith(p.Index)
		} else {
			r.arith(p.Index)
		}
	}
	if p.Slice != nil {
		r.arith(p.Slice.Offset)
		r.arith(p.Slice.Length)
	}
	if p.Repl != nil {
		r.inner(p.Repl.Orig)
		r.inner(p.Repl.With)
	}
	if p.Exp != nil {
		r.inner(p.Exp.Word)
		if p.Exp.Op == syntax.OtherParamOps && p.Exp.Word != nil && p.Exp.Word.Lit() == "P" {
			r.opaque("policy.opaque_indirect")
		}
	}
	// ${!x} reads the variable that x names, and evaluates a subscript in that name.
	if p.Excl && p.Names == 0 && !isAllIndex(p.Index) {
		r.opaque("policy.opaque_indirect")
	}
}

func isAllIndex(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && w != nil && (w.Lit() == "@" || w.Lit() == "*")
}

func (r *reader) inner(w *syntax.Word) {
	if w != nil && r.node(w) {
		r.visitParts(w.Parts)
	}
}

// test lists the words and operators of [[ ... ]].
func (r *reader) test(x syntax.TestExpr) []Word {
	switch x := x.(type) {
	case *syntax.Word:
		return []Word{r.single(x)}
	case *syntax.ParenTest:
		words := append([]Word{operator("(")}, r.test(x.X)...)
		return append(words, operator(")"))
	case *syntax.UnaryTest:
		words := append([]Word{operator(x.Op.String())}, r.test(x.X)...)
		if w := words[1]; (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) && !safeName(w) {
			r.opaque("policy.opaque_eval_data")
		}
		return words
	case *syntax.BinaryTest:
		words := append(r.test(x.X), operator(x.Op.String()))
		words = append(words, r.test(x.Y)...)
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			r.evalTest(x.X)
			r.evalTest(x.Y)
		}
		return words
	}
	r.refuse("policy.unknown_syntax", x.Pos())
	return nil
}

func operator(op string) Word { return Word{Text: op, Static: true} }

func (r *reader) evalTest(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		r.evaluated(w)
	}
}

// safeName reports an operand that a shell may take as a variable name without running anything.
func safeName(w Word) bool { return w.Static && !strings.ContainsAny(w.Text, "[$`") }

// arithWord reads an arithmetic expression as one word, without its blanks.
func (r *reader) arithWord(x syntax.ArithmExpr) Word {
	r.arith(x)
	text := strings.Join(strings.Fields(r.source(x)), "")
	return Word{Text: text, Static: !strings.ContainsAny(text, "$`")}
}

// arith reads an arithmetic expression that the shell evaluates. Evaluation reads variables' texts as expressions
// again, and a subscript in one runs the commands that it names: only numbers known from this text are safe.
func (r *reader) arith(x syntax.ArithmExpr) {
	r.eachArithWord(x, func(w *syntax.Word) {
		r.visitParts(w.Parts)
		r.evaluated(w)
	})
}

// visitArith reads only the commands inside an arithmetic expression.
func (r *reader) visitArith(x syntax.ArithmExpr) {
	r.eachArithWord(x, func(w *syntax.Word) { r.visitParts(w.Parts) })
}

func (r *reader) eachArithWord(x syntax.ArithmExpr, f func(*syntax.Word)) {
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		if x != nil && r.node(x) {
			f(x)
		}
	case *syntax.BinaryArithm:
		if w, ok := x.X.(*syntax.Word); !ok || x.Op != syntax.Assgn || !syntax.ValidName(w.Lit()) {
			r.eachArithWord(x.X, f) // a plain name that is assigned to is not read
		}
		r.eachArithWord(x.Y, f)
	case *syntax.UnaryArithm:
		r.eachArithWord(x.X, f)
	case *syntax.ParenArithm:
		r.eachArithWord(x.X, f)
	default:
		r.refuse("policy.unknown_syntax", x.Pos())
	}
}

// evaluated makes the analysis opaque when evaluating the word as arithmetic could run something.
func (r *reader) evaluated(w *syntax.Word) {
	if !r.needFacts().Numeric(w.Parts) {
		r.opaque("policy.opaque_arithmetic")
	}
}

// letOperators refuses unquoted < > & | ( ) after let: for bash they are redirections, pipes and process
// substitutions, since let takes shell words; for the parser they are arithmetic.
func (r *reader) letOperators(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if strings.ContainsAny(x.Op.String(), "<>&|") {
			r.refuse("policy.let_operator", x.OpPos)
		}
		r.letOperators(x.X)
		r.letOperators(x.Y)
	case *syntax.UnaryArithm:
		r.letOperators(x.X)
	case *syntax.ParenArithm:
		r.refuse("policy.let_operator", x.Lparen)
	}
}

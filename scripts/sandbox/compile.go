package sandbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// MaxSource is the longest script, in bytes.
const MaxSource = 128 << 10

// The names of the functions that scripts pay through. No script can write such a name.
const (
	fnConcat  = "\x00concat"
	fnSet     = "\x00set"
	fnKey     = "\x00key"
	fnTable   = "\x00table"
	fnClosure = "\x00closure"
)

// What things cost, in bytes, rather too much than too little.
const (
	costTable   = 160
	costHash    = 700  // the named fields of a table constructor, beside each of them
	costMap     = 2600 // the first named field of an empty table
	costField   = 128
	costArray   = 560 // the first element of a table
	costElement = 40
	costClosure = 256
	costString  = 32
)

// Compile compiles a script that is called name in its messages. The error begins with NAME:LINE.
func Compile(name, source string) (proto *lua.FunctionProto, err error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("%s:1: the script has %d bytes, at most %d are read", name, len(source), MaxSource)
	}
	defer func() { // the compiler is a third party's
		if v := recover(); v != nil {
			proto, err = nil, fmt.Errorf("%s:1: this script cannot be compiled: %v", name, v)
		}
	}()
	// A first line for the shell's sake and a byte order mark are no Lua.
	source = strings.TrimPrefix(source, "\uFEFF")
	if strings.HasPrefix(source, "#") {
		source = "--" + source
	}
	chunk, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	proto, err = lua.Compile(priced(chunk), name)
	if err != nil {
		var ce *lua.CompileError
		if errors.As(err, &ce) {
			return nil, fmt.Errorf("%s:%d: %s", name, ce.Line, ce.Message)
		}
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	noTailCalls(proto)
	return proto, nil
}

// noTailCalls turns tail calls into calls. The machine counts them, and writes a line for each of them into the trace
// that it makes of every error, wanted or not: a million of them take longer than the script may.
func noTailCalls(proto *lua.FunctionProto) {
	const shift = 26 // of the operation in an instruction
	for i, inst := range proto.Code {
		if inst>>shift == uint32(lua.OP_TAILCALL) {
			proto.Code[i] = inst&(1<<shift-1) | uint32(lua.OP_CALL)<<shift
		}
	}
	for _, inner := range proto.FunctionPrototypes {
		noTailCalls(inner)
	}
}

func syntaxError(name string, err error) error {
	var pe *parse.Error
	if !errors.As(err, &pe) {
		return fmt.Errorf("%s:1: %w", name, err)
	}
	if pe.Pos.Line < 1 { // the end of the text
		return fmt.Errorf("%s: %s at the end of the file", name, pe.Message)
	}
	return fmt.Errorf("%s:%d: %s near %q", name, pe.Pos.Line, pe.Message, pe.Token)
}

// priced rewrites statements so that whatever they make is paid for.
func priced(list []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(list))
	for _, s := range list {
		out = append(out, statement(s)...)
	}
	return out
}

func statement(s ast.Stmt) []ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return assign(s)
	case *ast.LocalAssignStmt:
		// "local function" is recognised by its form, so it is paid for beside it.
		if len(s.Exprs) == 1 && len(s.Names) == 1 {
			if fn, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
				fn.Stmts = priced(fn.Stmts)
				return []ast.Stmt{pay(s), s}
			}
		}
		exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = expr(s.Expr)
	case *ast.DoBlockStmt:
		s.Stmts = priced(s.Stmts)
	case *ast.WhileStmt:
		s.Condition, s.Stmts = expr(s.Condition), priced(s.Stmts)
	case *ast.RepeatStmt:
		s.Condition, s.Stmts = expr(s.Condition), priced(s.Stmts)
	case *ast.IfStmt:
		s.Condition, s.Then, s.Else = expr(s.Condition), priced(s.Then), priced(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit, s.Step = expr(s.Init), expr(s.Limit), expr(s.Step)
		s.Stmts = priced(s.Stmts)
	case *ast.GenericForStmt:
		exprs(s.Exprs)
		s.Stmts = priced(s.Stmts)
	case *ast.FuncDefStmt:
		s.Func.Stmts = priced(s.Func.Stmts)
		return []ast.Stmt{pay(s), s}
	case *ast.ReturnStmt:
		exprs(s.Exprs)
	}
	return []ast.Stmt{s}
}

// assign turns an assignment to a field into a call. With several targets everything is evaluated first, as Lua does;
// for plain variables too, because the compiler gets "a, b = b, a" wrong.
func assign(s *ast.AssignStmt) []ast.Stmt {
	exprs(s.Rhs)
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		target, ok := s.Lhs[0].(*ast.AttrGetExpr)
		if !ok {
			return []ast.Stmt{s}
		}
		return []ast.Stmt{setCall(s, expr(target.Object), expr(target.Key), s.Rhs[0])}
	}
	var before, after []ast.Stmt
	values := &ast.LocalAssignStmt{Exprs: s.Rhs}
	values.SetLine(s.Line())
	for i, l := range s.Lhs {
		n := strconv.Itoa(i)
		value := ident(s, "\x00v"+n)
		values.Names = append(values.Names, "\x00v"+n)
		target, ok := l.(*ast.AttrGetExpr)
		if !ok {
			plain := &ast.AssignStmt{Lhs: []ast.Expr{l}, Rhs: []ast.Expr{value}}
			plain.SetLine(s.Line())
			after = append(after, plain)
			continue
		}
		where := &ast.LocalAssignStmt{
			Names: []string{"\x00o" + n, "\x00k" + n}, Exprs: []ast.Expr{single(expr(target.Object)), single(expr(target.Key))},
		}
		where.SetLine(s.Line())
		before = append(before, where)
		after = append(after, setCall(s, ident(s, "\x00o"+n), ident(s, "\x00k"+n), value))
	}
	block := &ast.DoBlockStmt{Stmts: append(append(before, values), after...)}
	block.SetLine(s.Line())
	block.SetLastLine(s.Line())
	return []ast.Stmt{block}
}

func setCall(at ast.PositionHolder, object, key, value ast.Expr) ast.Stmt {
	return callStmt(at, call(at, fnSet, single(object), single(key), single(value)))
}

// pay is a statement that pays for a closure.
func pay(at ast.PositionHolder) ast.Stmt { return callStmt(at, call(at, fnClosure)) }

func callStmt(at ast.PositionHolder, c *ast.FuncCallExpr) ast.Stmt {
	c.AdjustRet = false
	s := &ast.FuncCallStmt{Expr: c}
	s.SetLine(at.Line())
	s.SetLastLine(at.Line())
	return s
}

func exprs(list []ast.Expr) {
	for i := range list {
		list[i] = expr(list[i])
	}
}

func expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		e.Object, e.Key = expr(e.Object), expr(e.Key)
	case *ast.TableExpr:
		return table(e)
	case *ast.FuncCallExpr:
		e.Func, e.Receiver = expr(e.Func), expr(e.Receiver)
		exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = expr(e.Lhs), expr(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = expr(e.Lhs), expr(e.Rhs)
	case *ast.StringConcatOpExpr:
		return concat(e)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = expr(e.Lhs), expr(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = expr(e.Expr)
	case *ast.FunctionExpr:
		e.Stmts = priced(e.Stmts)
		return call(e, fnClosure, e)
	}
	return e
}

// concat makes a..b..c one call, in pieces that fit into the registers.
func concat(e *ast.StringConcatOpExpr) ast.Expr {
	const most = 40
	var parts []ast.Expr
	var rest ast.Expr = e
	for len(parts) < most {
		c, ok := rest.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		parts = append(parts, single(expr(c.Lhs)))
		rest = c.Rhs
	}
	return call(e, fnConcat, append(parts, single(expr(rest)))...)
}

func table(t *ast.TableExpr) ast.Expr {
	cost, named := costTable, 0
	for _, f := range t.Fields {
		f.Value = expr(f.Value)
		switch key := f.Key.(type) {
		case nil:
			cost += costElement
		case *ast.StringExpr:
			named++
		default:
			named++
			f.Key = call(t, fnKey, single(expr(key)))
		}
	}
	if named > 0 {
		cost += costHash + named*costField
	}
	return call(t, fnTable, t, number(t, cost))
}

// single makes an expression give exactly one value, also at the end of a list.
func single(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}

func call(at ast.PositionHolder, name string, args ...ast.Expr) *ast.FuncCallExpr {
	c := &ast.FuncCallExpr{Func: ident(at, name), Args: args, AdjustRet: true}
	c.SetLine(at.Line())
	c.SetLastLine(max(at.Line(), at.LastLine()))
	return c
}

func ident(at ast.PositionHolder, name string) *ast.IdentExpr {
	i := &ast.IdentExpr{Value: name}
	i.SetLine(at.Line())
	i.SetLastLine(at.Line())
	return i
}

func number(at ast.PositionHolder, n int) *ast.NumberExpr {
	e := &ast.NumberExpr{Value: strconv.Itoa(n)}
	e.SetLine(at.Line())
	e.SetLastLine(at.Line())
	return e
}

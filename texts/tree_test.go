package texts

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// idFields are the struct fields that hold message ids for someone else to word.
var idFields = []string{"Code", "Reason", "ID", "id"}

// usage is what the Go code of a tree says about message ids.
type usage struct {
	named    map[string]string // id → where it is named as an id
	literals map[string]bool   // every string literal
	prefixes []string          // literals such as "status." that code completes
}

// scan parses the non-test Go files below fsys. A file that does not parse is reported as an error, one that does
// not compile is not.
func scan(fsys fs.FS) (usage, error) {
	u := usage{named: map[string]string{}, literals: map[string]bool{}}
	fset := token.NewFileSet()
	packages := map[string][]*ast.File{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		packages[path.Dir(name)] = append(packages[path.Dir(name)], f)
		return nil
	})
	for _, files := range packages {
		u.addPackage(fset, files)
	}
	return u, err
}

func (u *usage) addPackage(fset *token.FileSet, files []*ast.File) {
	consts := map[string]string{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) {
						if s, ok := literal(n.Values[i]); ok {
							consts[name.Name] = s
						}
					}
				}
			case *ast.BasicLit:
				if s, ok := literal(n); ok {
					u.literals[s] = true
					if strings.Contains(s, ".") && (strings.HasSuffix(s, ".") || strings.HasSuffix(s, "_")) {
						u.prefixes = append(u.prefixes, s)
					}
				}
			}
			return true
		})
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			for _, e := range idExprs(n) {
				s, ok := literal(e)
				if id, isIdent := e.(*ast.Ident); isIdent {
					s, ok = consts[id.Name]
				}
				if ok && idForm.MatchString(s) && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "_") {
					u.named[s] = fset.Position(e.Pos()).String()
				}
			}
			return true
		})
	}
}

// idExprs are the expressions of a node that stand where a message id is expected.
func idExprs(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Say" && len(n.Args) > 0 {
			return n.Args[:1]
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(idFields, key.Name) {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		var out []ast.Expr
		for i, l := range n.Lhs {
			if sel, ok := l.(*ast.SelectorExpr); ok && slices.Contains(idFields, sel.Sel.Name) && i < len(n.Rhs) {
				out = append(out, n.Rhs[i])
			}
		}
		return out
	}
	return nil
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// fileEnds tell the names of files from message ids.
var fileEnds = []string{".toml", ".md", ".lua", ".db", ".json", ".log", ".sock", ".lock", ".txt", ".exe", ".go", ".head", ".stat"}

// gaps lists ids that code names and the catalog lacks, and ids of the catalog that no code mentions.
func (u *usage) gaps(msgs map[string]string) []string {
	var out []string
	for id, where := range u.named {
		if _, ok := msgs[id]; !ok {
			out = append(out, fmt.Sprintf("%s: message %s does not exist", where, id))
		}
	}
	tables := map[string]bool{}
	for id := range msgs {
		tables[id[:strings.IndexByte(id, '.')]] = true
	}
	for l := range u.literals {
		if u.named[l] != "" || !idForm.MatchString(l) || strings.HasSuffix(l, "_") || slices.Contains(fileEnds, path.Ext(l)) {
			continue
		}
		if _, ok := msgs[l]; !ok && tables[l[:strings.IndexByte(l, '.')]] {
			out = append(out, fmt.Sprintf("%q looks like a message, which does not exist", l))
		}
	}
	for id := range msgs {
		used := u.literals[id] || slices.ContainsFunc(u.prefixes, func(p string) bool { return strings.HasPrefix(id, p) })
		if !used {
			out = append(out, fmt.Sprintf("message %s is not used by any code", id))
		}
	}
	slices.Sort(out)
	return out
}

func TestCodeAndCatalogAgree(t *testing.T) {
	t.Parallel()
	u, err := scan(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := load(files, "en")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range u.gaps(msgs) {
		t.Error(g)
	}
}

func TestGapsAreFound(t *testing.T) {
	t.Parallel()
	u, err := scan(fstest.MapFS{
		"a/a.go": {Data: []byte(`package a
const lost = "a.const_lost"
func f() {
	c.Say("a.said"); c.Say("a.said_lost"); c.Say("a.kind_" + k)
	x := T{Code: "a.code_lost", Reason: lost, Other: "a.file_name.txt"}
	x.Reason = "a.reason_lost"
	undefined("a.elsewhere"); undefined("a.lost_elsewhere", "a.toml", "b.other")
}`)},
		"a/a_test.go":     {Data: []byte(`package a; var x = T{Code: "a.in_a_test"}`)},
		"a/testdata/b.go": {Data: []byte(`broken`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(u.gaps(map[string]string{"a.said": "", "a.unused": "", "a.elsewhere": "", "a.kind_one": ""}), "\n")
	for _, want := range []string{"a.said_lost", "a.code_lost", "a.const_lost", "a.reason_lost", "a.unused", "a.lost_elsewhere"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s was not reported", want)
		}
	}
	if n := strings.Count(got, "\n") + 1; n != 6 {
		t.Errorf("%d reports, want 6:\n%s", n, got)
	}
}

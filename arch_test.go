package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/maishell/maishell"

// importTable says which of our packages each package, sub-packages included, may import. The root is "".
var importTable = map[string][]string{
	"":         {"app"},
	"app":      {"*"},
	"config":   {"*"},
	"texts":    {},
	"redact":   {},
	"roles":    {},
	"session":  {"roles"},
	"policy":   {"roles"},
	"audit":    {"roles", "session"},
	"executor": {},
	"guard":    {"policy", "audit", "executor", "roles", "session"},
	"scripts":  {"policy", "guard"},
	"tools":    {"roles", "session", "guard", "executor"},
	"llm":      {},
	"channels": {"roles", "session"},
	"agent":    {"channels", "llm", "roles", "session", "tools"},
	"subagent": {"agent", "llm", "roles", "session", "tools"},
	"store":    {"agent", "audit", "guard", "executor", "session", "scripts"},
	"mcp":      {"tools", "guard", "roles", "session"},
	"nodes":    {"tools", "guard", "roles", "session"},
}

// leaves may be imported by every package.
var leaves = []string{"texts", "redact"}

// starters are the functions and constants that start or become another program, by import path.
var starters = map[string][]string{
	"os":      {"StartProcess"},
	"syscall": lowLevelStarters,

	"golang.org/x/sys/unix":    lowLevelStarters,
	"golang.org/x/sys/windows": lowLevelStarters,
}

// A final * stands for any ending.
var lowLevelStarters = []string{
	"ForkExec", "StartProcess", "Exec", "CreateProcess*", "ShellExecute*", "SYS_EXECVE*", "SYS_FORK", "SYS_VFORK",
	"SYS_CLONE*", "SYS_POSIX_SPAWN",
}

// starterPackages start programs by themselves.
var starterPackages = []string{
	"os/exec", "golang.org/x/sys/execabs", "mvdan.cc/sh/v3/interp", "github.com/rogpeppe/go-internal/testscript",
	"github.com/creack/pty", "github.com/charmbracelet/x/xpty", "github.com/shirou/gopsutil/v4/docker",
}

// gopsutilStarters are the functions of gopsutil that run ps, lsof, sw_vers ..., with the systems where they do. A
// form ending in WithContext is meant too; for package process they are methods.
var gopsutilStarters = map[string]map[string]string{
	"github.com/shirou/gopsutil/v4/host": {
		"Info": "linux darwin", "PlatformInformation": "linux darwin", "HostID": "darwin", "Users": "linux",
	},
	"github.com/shirou/gopsutil/v4/net": {
		"IOCounters": "darwin", "IOCountersByFile": "darwin", "Connections": "darwin", "ConnectionsMax": "darwin",
		"ConnectionsPid": "darwin", "ConnectionsPidMax": "darwin", "ConnectionsWithoutUids": "darwin",
		"ConnectionsMaxWithoutUids": "darwin", "ConnectionsPidWithoutUids": "darwin",
		"ConnectionsPidMaxWithoutUids": "darwin",
	},
	"github.com/shirou/gopsutil/v4/load": {"Misc": "darwin"},
	"github.com/shirou/gopsutil/v4/disk": {"SerialNumber": "darwin"},
	processPackage: {
		"Status": "darwin", "Foreground": "darwin", "Background": "darwin", "Connections": "darwin", "ConnectionsMax": "darwin",
	},
}

const processPackage = "github.com/shirou/gopsutil/v4/process"

// TestArchitecture holds the rules for the files of every system, whatever system it runs on.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	files := load(t, ".")
	if len(files) < 10 {
		t.Fatalf("only %d files found", len(files))
	}
	for name, check := range checks() {
		for _, problem := range check(files) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func checks() map[string]func([]goFile) []string {
	return map[string]func([]goFile) []string{
		"imports": checkImports, "processes": checkProcesses, "origin": checkOrigin, "hidden state": checkInit,
		"size": checkSize,
	}
}

// TestArchitectureSamples proves that each check can fail.
func TestArchitectureSamples(t *testing.T) {
	t.Parallel()
	for sample, want := range map[string][]string{
		"bad_import": {
			"policy/policy.go: policy may not import guard", "agent/agent_windows.go: agent may not import store",
			"tools/files/files.go: tools may not import config",
		},
		"bad_folder": {"util/util.go: no row for util in the import table"},
		"bad_exec": {
			"agent/run.go: imports os/exec", "agent/run.go:12: os.StartProcess", "agent/run.go:13: syscall.ForkExec",
			"tools/tools_windows.go: dot import of os", "tools/tools_windows.go:11: golang.org/x/sys/windows.CreateProcessAsUser",
			"tools/tools_windows.go:12: \"ShellExecuteW\"", "app/app_linux.go: imports plugin",
			"app/app_linux.go: imports mvdan.cc/sh/v3/interp", "app/app_linux.go:11: golang.org/x/sys/unix.Exec",
			"app/app_linux.go:12: golang.org/x/sys/unix.SYS_EXECVE", "executor/cgo.go: imports C",
		},
		"bad_linkname": {"app/link.go:6: go:linkname"},
		"bad_gopsutil": {
			"tools/host.go:13: host.InfoWithContext", "tools/host.go:15: net.Connections", "tools/host.go:16: process: Status",
			"tools/host_darwin.go:5: host.HostID",
		},
		"bad_origin": {"agent/origin.go:11: session.WithOrigin"},
		"bad_init":   {"app/init.go:8: func init", "app/init.go:8: runtime.GOOS"},
		"bad_size":   {"app/long.go:4: func long has 84 lines", "app/long.go: 510 lines"},
	} {
		files := load(t, filepath.Join("testdata", "arch", sample))
		var got []string
		for _, check := range checks() {
			got = append(got, check(files)...)
		}
		slices.Sort(got)
		slices.Sort(want)
		for i := range want {
			if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s:\n got %s\nwant %s", sample, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
				break
			}
		}
	}
}

// goFile is one file that goes into the program on some system.
type goFile struct {
	path    string // with slashes, from the root
	top     string // first folder, "" for the root
	ast     *ast.File
	fset    *token.FileSet
	imports map[string]string // local name to import path
	lines   int
}

// load parses every Go file below dir but tests and test data, whatever its build constraints.
func load(t *testing.T, dir string) []goFile {
	t.Helper()
	var files []goFile
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if p != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		f, err := parseFile(p, text)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func parseFile(p string, text []byte) (goFile, error) {
	f := goFile{path: p, fset: token.NewFileSet(), imports: map[string]string{}}
	if before, _, ok := strings.Cut(p, "/"); ok {
		f.top = before
	}
	f.lines = strings.Count(string(text), "\n")
	var err error
	if f.ast, err = parser.ParseFile(f.fset, p, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return f, err
	}
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return f, err
		}
		local := path.Base(imported)
		if strings.HasPrefix(local, "v") && strings.Trim(local[1:], "0123456789") == "" {
			local = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." || local == "_" {
			local += imported // kept apart from the others of their kind
		}
		f.imports[local] = imported
	}
	return f, nil
}

func (f goFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// uses calls fn for every selector on an imported package.
func (f goFile) uses(fn func(n ast.Node, imported, name string)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && f.imports[x.Name] != "" {
				fn(n, f.imports[x.Name], sel.Sel.Name)
			}
		}
		return true
	})
}

// dotImports finds imports that would hide the selectors that the other checks look for.
func (f goFile) dotImports(matters func(imported string) bool) (problems []string) {
	for local, imported := range f.imports {
		if strings.HasPrefix(local, ".") && matters(imported) {
			problems = append(problems, f.path+": dot import of "+imported)
		}
	}
	return problems
}

func checkImports(files []goFile) (problems []string) {
	for _, f := range files {
		allowed, known := importTable[f.top]
		if !known {
			problems = append(problems, fmt.Sprintf("%s: no row for %s in the import table", f.path, f.top))
			continue
		}
		for _, imported := range f.imports {
			rest, ours := strings.CutPrefix(imported, module)
			if !ours || rest != "" && rest[0] != '/' {
				continue
			}
			target, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
			if target == f.top && rest != "" || slices.Contains(leaves, target) || slices.Contains(allowed, target) ||
				slices.Contains(allowed, "*") {
				continue
			}
			problems = append(problems, fmt.Sprintf("%s: %s may not import %s", f.path, f.top, target))
		}
	}
	return problems
}

// checkProcesses holds that nothing but executor starts a process, and that nothing at all uses cgo, plugins or
// linkname, which no such check sees through.
func checkProcesses(files []goFile) (problems []string) {
	for _, f := range files {
		for local, imported := range f.imports {
			uses := f.top != "executor" && !strings.HasPrefix(local, "_")
			if imported == "C" || imported == "plugin" || uses && slices.Contains(starterPackages, imported) {
				problems = append(problems, f.path+": imports "+imported)
			}
		}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:linkname") {
					problems = append(problems, f.at(c)+": go:linkname")
				}
			}
		}
		problems = append(problems, f.gopsutil()...)
		if f.top != "executor" {
			problems = append(problems, f.starts()...)
		}
	}
	return problems
}

func (f goFile) starts() []string {
	problems := f.dotImports(func(imported string) bool { return starters[imported] != nil })
	f.uses(func(n ast.Node, imported, name string) {
		if slices.ContainsFunc(starters[imported], func(s string) bool {
			prefix, any := strings.CutSuffix(s, "*")
			return name == prefix || any && strings.HasPrefix(name, prefix)
		}) {
			problems = append(problems, f.at(n)+": "+imported+"."+name)
		}
	})
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			for _, proc := range []string{"CreateProcess", "ShellExecute", "WinExec"} {
				if strings.HasPrefix(strings.Trim(lit.Value, "`\""), proc) {
					problems = append(problems, f.at(n)+": "+lit.Value)
				}
			}
		}
		return true
	})
	return problems
}

// gopsutil finds calls that start programs on a system which the file is for.
func (f goFile) gopsutil() []string {
	problems := f.dotImports(func(imported string) bool { return gopsutilStarters[imported] != nil })
	starts := func(imported, name string) bool {
		systems := strings.Fields(gopsutilStarters[imported][strings.TrimSuffix(name, "WithContext")])
		return slices.ContainsFunc(systems, f.builtFor)
	}
	f.uses(func(n ast.Node, imported, name string) {
		if imported != processPackage && starts(imported, name) {
			problems = append(problems, f.at(n)+": "+path.Base(imported)+"."+name+" starts a program")
		}
	})
	for _, imported := range f.imports {
		if imported != processPackage {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			// A package's function was looked at above: this is about methods.
			if x, ok := sel.X.(*ast.Ident); !(ok && f.imports[x.Name] != "") && starts(processPackage, sel.Sel.Name) {
				problems = append(problems, f.at(n)+": process: "+sel.Sel.Name+" starts a program")
			}
			return true
		})
	}
	return problems
}

// builtFor reports whether the file's name lets it be built for the system.
func (f goFile) builtFor(system string) bool {
	name := strings.TrimSuffix(path.Base(f.path), ".go")
	for _, other := range []string{"linux", "darwin", "windows"} {
		if strings.HasSuffix(name, "_"+other) || strings.Contains(name, "_"+other+"_") {
			return other == system
		}
	}
	return !strings.HasSuffix(name, "_unix") || system != "windows"
}

// checkOrigin holds that the tool pipeline alone says who is asking.
func checkOrigin(files []goFile) (problems []string) {
	const sessions = module + "/session"
	for _, f := range files {
		if path.Dir(f.path) == "tools" {
			continue
		}
		problems = append(problems, f.dotImports(func(imported string) bool { return imported == sessions })...)
		f.uses(func(n ast.Node, imported, name string) {
			if imported == sessions && name == "WithOrigin" {
				problems = append(problems, f.at(n)+": session.WithOrigin")
			}
		})
	}
	return problems
}

// checkInit holds that nothing runs before main and nothing asks for the platform at run time.
func checkInit(files []goFile) (problems []string) {
	for _, f := range files {
		problems = append(problems, f.dotImports(func(imported string) bool { return imported == "runtime" })...)
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				problems = append(problems, f.at(fn)+": func init")
			}
		}
		f.uses(func(n ast.Node, imported, name string) {
			if imported == "runtime" && name == "GOOS" {
				problems = append(problems, f.at(n)+": runtime.GOOS")
			}
		})
	}
	return problems
}

// checkSize leaves some room above what is aimed at: 60 lines a function, 400 a file.
func checkSize(files []goFile) (problems []string) {
	for _, f := range files {
		if f.lines > 500 {
			problems = append(problems, fmt.Sprintf("%s: %d lines", f.path, f.lines))
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > 80 {
				problems = append(problems, fmt.Sprintf("%s: func %s has %d lines", f.at(fn), fn.Name.Name, n))
			}
		}
	}
	return problems
}

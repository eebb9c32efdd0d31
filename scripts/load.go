package scripts

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/policy"
	"github.com/maishell/maishell/scripts/sandbox"
)

//go:embed guards/*.lua
var shipped embed.FS

// Options are where scripts come from and what they see.
type Options struct {
	Dir      string   // whose *.lua are all used, in name order; must exist. Empty: none
	Enable   []string // names of shipped scripts to use as well, before those of Dir
	Required []string // names without which there is no set
	Shipped  fs.FS    // the scripts that Enable names, as NAME.lua; nil: those that come with the program
	// TrustShipped uses shipped scripts without running their tests, which passed when the program was built.
	TrustShipped bool
	// Dialect says how a shell is parsed; nil: by its name.
	Dialect  func(shell string) policy.Dialect
	Now      func() time.Time // nil: time.Now
	Location *time.Location   // of mai.time; nil: the system's
	Timeout  time.Duration    // for one script at one call; 0: 50 ms
	KV       *KV              // what mai.kv keeps; nil: a new one
	Logger   *slog.Logger     // nil: nothing is logged
}

const (
	defaultTimeout = 50 * time.Millisecond
	loadTimeout    = time.Second // for running a script once, and for one test
	maxScripts     = 200
)

// nameForm is what a script may be called.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Shipped lists the names of the scripts that come with the program.
func Shipped() []string {
	names, err := names(shippedFS())
	if err != nil {
		return nil
	}
	return names
}

func shippedFS() fs.FS {
	sub, err := fs.Sub(shipped, "guards")
	if err != nil {
		return shipped // not reached: the name is valid
	}
	return sub
}

// Load reads, compiles, runs and tests all scripts (see TrustShipped). Its error is a *LoadError: there is no set then.
func Load(o Options) (*Set, error) {
	if o.Shipped == nil {
		o.Shipped = shippedFS()
	}
	s := newSet(o)
	if err := s.readAll(o); err != nil {
		return nil, err
	}
	for _, name := range o.Required {
		if !slices.ContainsFunc(s.scripts, func(sc *script) bool { return sc.name == name }) {
			return nil, loadError("lua.required", nil, name)
		}
	}
	for _, sc := range s.scripts {
		if err := s.learn(sc); err != nil {
			return nil, err
		}
	}
	if err := s.checkNames(); err != nil {
		return nil, err
	}
	for _, sc := range s.scripts {
		if err := s.test(sc); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readAll compiles everything that is asked for.
func (s *Set) readAll(o Options) error {
	if err := s.readShipped(o); err != nil {
		return err
	}
	if o.Dir == "" {
		return nil
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return loadError("lua.no_dir", err, o.Dir)
	}
	defer func() { _ = root.Close() }() // it was read only
	found, err := names(root.FS())
	if err != nil {
		return loadError("lua.no_dir", err, o.Dir)
	}
	for _, name := range found {
		if slices.ContainsFunc(s.scripts, func(sc *script) bool { return sc.name == name }) {
			return loadError("lua.duplicate", nil, name)
		}
		if err := s.read(root.FS(), name, false); err != nil {
			return err
		}
	}
	return s.readLibrary(root.FS())
}

func (s *Set) readShipped(o Options) error {
	all, err := names(o.Shipped)
	if err != nil {
		return loadError("lua.no_dir", err, "guards")
	}
	for _, name := range o.Enable {
		if !slices.Contains(all, name) {
			return loadError("lua.unknown", nil, name, strings.Join(all, ", "))
		}
		if slices.ContainsFunc(s.scripts, func(sc *script) bool { return sc.name == name }) {
			continue // named twice
		}
		if err := s.read(o.Shipped, name, true); err != nil {
			return err
		}
	}
	return nil
}

// names lists the scripts of a directory in name order, without their tests.
func names(fsys fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		name, isLua := strings.CutSuffix(e.Name(), ".lua")
		if !isLua || e.IsDir() || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test") {
			continue
		}
		out = append(out, name)
	}
	if len(out) > maxScripts {
		return nil, errors.New("too many scripts")
	}
	return out, nil
}

// read compiles a script and its tests.
func (s *Set) read(fsys fs.FS, name string, isShipped bool) error {
	if !nameForm.MatchString(name) {
		return loadError("lua.bad_name", nil, name+".lua")
	}
	sc := &script{name: name, shipped: isShipped}
	var err error
	var text, tests string
	if sc.proto, text, err = compileFile(fsys, name+".lua"); err != nil {
		return err
	}
	if !isShipped || !s.trustShipped {
		sc.tests, tests, err = compileFile(fsys, name+"_test.lua")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	sc.hash = hashOf(text, tests)
	s.scripts = append(s.scripts, sc)
	return nil
}

// readLibrary compiles lib/*.lua for require "lib.x".
func (s *Set) readLibrary(fsys fs.FS) error {
	lib, err := fs.Sub(fsys, "lib")
	if err != nil {
		return err
	}
	found, err := names(lib)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return loadError("lua.unreadable", err, "lib")
	}
	var all []string
	for _, name := range found {
		var text string
		if s.library["lib."+name], text, err = compileFile(lib, name+".lua"); err != nil {
			return err
		}
		all = append(all, name, text)
	}
	s.libraryHash = hashOf(all...)
	return nil
}

func hashOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d %s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func compileFile(fsys fs.FS, name string) (*lua.FunctionProto, string, error) {
	info, err := fs.Stat(fsys, name) // before it is opened: a pipe would wait for a writer
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, "", loadError("lua.unreadable", err, name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, "", loadError("lua.unreadable", err, name)
	}
	defer func() { _ = f.Close() }() // it was read only
	text, err := io.ReadAll(io.LimitReader(f, sandbox.MaxSource+1))
	if err != nil {
		return nil, "", loadError("lua.unreadable", err, name)
	}
	proto, err := sandbox.Compile(name, string(text))
	if err != nil {
		return nil, "", loadError("lua.bad_script", err)
	}
	return proto, string(text), nil
}

// learn runs a script once to find out what it defines.
func (s *Set) learn(sc *script) error {
	m := newMachine()
	r := &run{set: s, m: m, script: sc, env: s.environment()}
	if err := r.open(context.Background(), loadTimeout, 0); err != nil {
		return loadError("lua.bad_script", err)
	}
	for _, d := range r.defs {
		if d.kind == kindTest {
			return loadError("lua.bad_script", errors.New(d.where+": mai.test is for "+sc.name+"_test.lua"))
		}
		sc.hooks = append(sc.hooks, Hook{Kind: d.kind, Name: d.name, Where: d.where})
	}
	for _, mk := range r.masks {
		mask, err := newMask(mk)
		if err != nil {
			return loadError("lua.bad_mask", err, mk.where, mk.name)
		}
		sc.masks = append(sc.masks, mask)
	}
	return nil
}

// checkNames holds that a decision's hook name says which hook it was.
func (s *Set) checkNames() error {
	seen := map[string]string{}
	for _, sc := range s.scripts {
		for _, h := range sc.hooks {
			key := h.Kind + " " + h.Name
			if before, ok := seen[key]; ok {
				return loadError("lua.same_hook", nil, h.Name, before, h.Where)
			}
			seen[key] = h.Where
		}
	}
	return nil
}

package guard

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/maishell/maishell/guard/paths"
)

// OwnFiles is the floor that keeps the program from changing what rules it: configuration, scripts, store, sockets,
// binary. No role, rule or approval loosens it. Writing one is denied by whatever path it is named, reading one asks
// a person, and so does neither for a directory that merely lies above one.
//
// It judges paths before they are used, and links can change in between: whoever opens a file checks it once more with
// ContainsFile. For a process of the same user with other means at hand this is best effort.
//
// It is immutable and safe for concurrent use.
type OwnFiles struct {
	files, dirs []string // absolute
}

// RuleOwnFiles is the rule that decisions about own files name.
const RuleOwnFiles = "own_files"

// NewOwnFiles makes the floor of the given files and of everything inside the given directories. None of them has to
// exist. Relative paths are taken from the working directory.
func NewOwnFiles(files, dirs []string) *OwnFiles {
	o := &OwnFiles{}
	for _, f := range files {
		o.files = append(o.files, paths.Absolute(f, ""))
	}
	for _, d := range dirs {
		o.dirs = append(o.dirs, paths.Absolute(d, ""))
	}
	return o
}

// relation says how a path stands to the own files.
type relation int

const (
	apart relation = iota
	above          // a directory, or a link to one, on the way to an own file
	holds          // the directory that an own file or directory is directly in
	own            // an own file, or inside an own directory
)

// view is what the own files are at the time of one decision.
type view struct {
	own    *OwnFiles
	w      paths.Walker
	ready  bool
	files  []paths.Place // own files, followed, and where they are links also the links
	dirs   []paths.Place
	names  map[string]relation // every name on the way to an own file, and their own
	listed map[string][]fs.DirEntry
}

// view looks at the own files as they are now. A command sees another /proc/self, and paths from its own cwd.
func (o *OwnFiles) view(command bool, cwd string) *view {
	return &view{own: o, w: paths.Walker{Command: command, Cwd: cwd}}
}

func (v *view) prepareDirs() {
	if v.dirs != nil {
		return
	}
	for _, d := range v.own.dirs {
		v.dirs = append(v.dirs, v.places(d)...)
	}
}

func (v *view) prepare() {
	if v.ready {
		return
	}
	v.ready = true
	v.prepareDirs()
	v.names = map[string]relation{}
	for _, f := range v.own.files {
		v.files = append(v.files, v.places(f)...)
	}
	for _, list := range [][]paths.Place{v.files, v.dirs} {
		for _, p := range list {
			for _, name := range p.Names {
				v.note(name, above)
			}
			for _, d := range p.Dirs {
				v.note(d.Path, above)
			}
			v.note(filepath.Dir(p.Path), holds)
			v.note(p.Path, own)
		}
	}
}

func (v *view) note(path string, r relation) {
	key := paths.Key(path)
	v.names[key] = max(v.names[key], r)
}

// places are all readings of a path: through its last element or not, and with ".." taken as text or as the kernel
// takes it.
func (v *view) places(path string) []paths.Place {
	out := []paths.Place{v.w.Follow(path, true)}
	if stop := v.w.Follow(path, false); stop.Path != out[0].Path {
		out = append(out, stop)
	}
	if clean := filepath.Clean(path); strings.Contains(path, "..") {
		out = append(out, v.w.Follow(clean, true))
	}
	return out
}

// relate says how the path, absolute, stands to the own files: the closest of its readings.
func (v *view) relate(path string) relation {
	v.prepare()
	r := apart
	for _, p := range v.places(path) {
		r = max(r, v.at(&p))
	}
	return r
}

func (v *view) at(p *paths.Place) relation {
	if v.names[paths.Key(p.Path)] == own || v.inside(p) || v.isFile(p) || v.below(p) {
		return own
	}
	r := v.names[paths.Key(p.Path)]
	if p.Info == nil || !p.Info.IsDir() {
		return r
	}
	// The same directory under another name: another case, a bind mount.
	for _, list := range [][]paths.Place{v.files, v.dirs} {
		for _, o := range list {
			for _, d := range o.Dirs {
				if os.SameFile(d.Info, p.Info) {
					r = max(r, above)
				}
			}
			if dir := parentOf(&o); dir != nil && os.SameFile(dir, p.Info) {
				r = max(r, holds)
			}
		}
	}
	return r
}

// turns reports whether making something at path would change where an own path leads: nothing is there yet, or a link
// that is on the way.
func (v *view) turns(path string) bool {
	p := v.w.Follow(path, false)
	return v.names[paths.Key(p.Path)] != apart && (p.Info == nil || p.Info.Mode()&fs.ModeSymlink != 0)
}

// inside reports whether p is an own directory or lies in one.
func (v *view) inside(p *paths.Place) bool {
	v.prepareDirs()
	for _, d := range v.dirs {
		if paths.Within(d.Path, p.Path) {
			return true
		}
		if d.Info == nil {
			continue
		}
		if p.Info != nil && os.SameFile(d.Info, p.Info) {
			return true
		}
		for _, s := range p.Dirs {
			if os.SameFile(d.Info, s.Info) {
				return true
			}
		}
	}
	return false
}

// isFile reports whether p is an own file under another name, or the name that an own file would have.
func (v *view) isFile(p *paths.Place) bool {
	if p.Info != nil {
		return v.identical(p.Info, p.Info.Mode().IsRegular() && paths.MoreNames(p.Info))
	}
	parent, base := firstMissing(p)
	if parent == nil {
		return false
	}
	for _, list := range [][]paths.Place{v.files, v.dirs} {
		for _, o := range list {
			dir := parentOf(&o)
			if dir != nil && strings.EqualFold(base, filepath.Base(o.Path)) && os.SameFile(parent, dir) {
				return true
			}
		}
	}
	return false
}

// below reports whether p lies below the name of an own file: a directory of that name would stand in its place.
func (v *view) below(p *paths.Place) bool {
	for _, o := range v.files {
		if paths.Within(o.Path, p.Path) {
			return true
		}
		for _, s := range p.Dirs {
			if o.Info != nil && os.SameFile(o.Info, s.Info) {
				return true
			}
		}
	}
	return false
}

// firstMissing is the deepest directory on the way to p that exists, nil when it is not certain, and the name in it that
// would have to be made first.
func firstMissing(p *paths.Place) (fs.FileInfo, string) {
	n := len(p.Dirs)
	if n == 0 {
		return nil, ""
	}
	deepest := p.Dirs[n-1]
	if !paths.Within(deepest.Path, p.Path) {
		return nil, ""
	}
	rest := paths.Split(p.Path[len(deepest.Path):])
	if len(rest) == 0 {
		return nil, ""
	}
	return deepest.Info, paths.EntryName(rest[0])
}

// parentOf is the directory that p is directly in, nil when that does not exist.
func parentOf(p *paths.Place) fs.FileInfo {
	if n := len(p.Dirs); n > 0 && p.Dirs[n-1].Path == filepath.Dir(p.Path) {
		return p.Dirs[n-1].Info
	}
	return nil
}

// identical reports whether info is that of an own file, and, if asked to search, of any file in an own directory.
func (v *view) identical(info fs.FileInfo, search bool) bool {
	for _, o := range v.files {
		if o.Info != nil && os.SameFile(o.Info, info) {
			return true
		}
	}
	if !search {
		return false
	}
	for _, d := range v.dirs {
		if d.Info != nil && paths.SameVolume(d.Info, info) && contains(&v.w, d.Path, info) {
			return true
		}
	}
	return false
}

// maxSearched bounds the search for a hard link; a file that may be in a larger directory counts as being there.
const maxSearched = 50_000

func contains(w *paths.Walker, dir string, info fs.FileInfo) bool {
	found, searched := false, 0
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		w.Spend(1)
		if err != nil || e == nil {
			return nil //nolint:nilerr // what cannot be read holds no file that could be linked from here
		}
		if searched++; searched > maxSearched {
			found = true
			return fs.SkipAll
		}
		if other, err := e.Info(); err == nil && os.SameFile(other, info) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// Contains reports whether path, by whatever way it leads there, is an own file or inside an own directory.
func (o *OwnFiles) Contains(path string) bool {
	v := o.view(false, "")
	return v.relate(paths.Absolute(path, "")) == own || v.w.Exhausted()
}

// ContainsFile reports the same of a file that is already open: what its path led to is then settled. It is for the
// moment between opening and the first change.
func (o *OwnFiles) ContainsFile(info fs.FileInfo) bool {
	v := o.view(false, "")
	v.prepare()
	return v.identical(info, true)
}

// CheckWorkspace refuses a directory for the file tools that holds own files or lies inside an own directory.
func (o *OwnFiles) CheckWorkspace(dir string) error {
	switch o.view(false, "").relate(paths.Absolute(dir, "")) {
	case own:
		return &WorkspaceError{Dir: dir, Inside: true}
	case above, holds:
		return &WorkspaceError{Dir: dir}
	case apart:
	}
	return nil
}

// WorkspaceError says why a directory cannot be the file tools' workspace.
type WorkspaceError struct {
	Dir    string
	Inside bool // it lies inside an own directory; else it holds own files
}

func (e *WorkspaceError) Error() string {
	if e.Inside {
		return "guard: workspace " + e.Dir + " lies inside an own directory"
	}
	return "guard: workspace " + e.Dir + " holds own files"
}

// TextID returns the message id and its values for the texts catalog.
func (e *WorkspaceError) TextID() (string, []any) {
	if e.Inside {
		return "guard.workspace_inside_own", []any{e.Dir}
	}
	return "guard.workspace_holds_own", []any{e.Dir}
}

// Decide judges the paths that the action names: see CommandFloor for those in a command's text. What the kernel shows as
// files is not written at all: much of it steers this process.
func (o *OwnFiles) Decide(ctx context.Context, a Action) (Decision, error) {
	if len(a.Reads)+len(a.Writes) == 0 {
		return Decision{Verdict: Allow}, nil
	}
	v := o.view(false, "")
	writes := a.Writes
	if len(writes) == 0 && a.has(Destroy) {
		writes = a.Reads // it says that it destroys, and this is all that it names
	}
	for _, path := range writes {
		if v.relate(paths.Absolute(path, a.Cwd)) != apart {
			return Decision{Verdict: Deny, Rule: RuleOwnFiles, Reason: "guard.own_write", Args: []any{path}}, nil
		}
		if v.ofKernel(paths.Absolute(path, a.Cwd)) {
			return Decision{Verdict: Deny, Rule: RuleOwnFiles, Reason: "guard.kernel_write", Args: []any{path}}, nil
		}
		if d, over := v.over(ctx); over {
			return d, ctx.Err()
		}
	}
	for _, path := range a.Reads {
		if v.relate(paths.Absolute(path, a.Cwd)) == own {
			return Decision{Verdict: Confirm, Rule: RuleOwnFiles, Reason: "guard.own_read", Args: []any{path}}, nil
		}
		if d, over := v.over(ctx); over {
			return d, ctx.Err()
		}
	}
	return Decision{Verdict: Allow}, nil
}

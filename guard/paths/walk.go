package paths

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Walker follows paths and remembers what it saw: it lives for one decision. The zero value is ready; it is not safe
// for concurrent use.
type Walker struct {
	// Command: paths are those of a command to be started. Then /proc/self is not this process: what lies below it is
	// unknown, except for root and cwd, which is Cwd.
	Command bool
	Cwd     string

	seen  map[string]node
	steps int
}

type node struct {
	info   fs.FileInfo // nil: nothing is there, or nothing that we may see
	target string      // of a link
}

// Place is where a path leads.
type Place struct {
	Path string      // links resolved; what does not exist stays as it was asked for
	Info fs.FileInfo // nil: nothing is there
	// Dirs are the existing directories that Path lies in, the root first.
	Dirs []Step
	// Names are the entries that were passed on the way, links and directories: replacing one leads elsewhere.
	Names []string
}

// Step is a directory on the way.
type Step struct {
	Path string
	Info fs.FileInfo
}

const (
	maxHops  = 64
	maxSteps = 200_000 // looked up by one walker: some tenths of a second
	procSelf = "/proc/self"
)

// Exhausted reports that this walker has done more than one decision may cost: what it says from then on is nothing to
// rely on.
func (w *Walker) Exhausted() bool { return w.steps > maxSteps }

// Spend counts work of another kind that one decision costs, in steps of about a microsecond.
func (w *Walker) Spend(steps int) { w.steps += steps }

// Exists reports whether there is an entry of that name, be it a link to nowhere.
func (w *Walker) Exists(path string) bool { return w.look(path).info != nil }

func (w *Walker) look(path string) node {
	w.steps++
	if n, ok := w.seen[path]; ok {
		return n
	}
	var n node
	if info, err := os.Lstat(path); err == nil {
		n.info = info
		if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			n.target, _ = os.Readlink(path)
		}
	}
	if w.seen == nil {
		w.seen = map[string]node{}
	}
	w.seen[path] = n
	return n
}

// Follow resolves an absolute path; last: its last element too, else it stops there when that is a link.
func (w *Walker) Follow(path string, last bool) Place {
	p, rest := w.start(path)
	for hops := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if w.steps++; w.Exhausted() {
			return p.ahead(filepath.Join(p.Path, name), rest)
		}
		if name == ".." {
			p.up()
			continue
		}
		next := filepath.Join(p.Path, name)
		if w.Command && (next == procSelf || next == "/proc/thread-self") {
			if hops++; hops > maxHops || !w.ownProc(&p, &rest) {
				return Place{Path: filepath.Join(append([]string{next}, rest...)...)}
			}
			continue
		}
		n := w.look(next)
		p.Names = append(p.Names, next)
		switch {
		case n.target != "" && (last || len(rest) > 0):
			if hops++; hops > maxHops {
				return p.ahead(next, rest)
			}
			target, info := linkTarget(next, n)
			if info != nil {
				p.Path, p.Info = next, info
				return p
			}
			elements := Split(target)
			if filepath.IsAbs(target) {
				var at Place
				at, elements = w.start(target)
				p.restart(at)
			}
			rest = append(elements, rest...)
		case n.info == nil || len(rest) > 0 && !n.info.IsDir():
			return p.ahead(next, rest)
		case n.info.IsDir():
			p.Path, p.Info = next, n.info
			p.Dirs = append(p.Dirs, Step{next, n.info})
		default:
			p.Path, p.Info = next, n.info
			return p
		}
	}
	if n := len(p.Dirs); n > 0 && p.Dirs[n-1].Path == p.Path {
		p.Info, p.Dirs = p.Dirs[n-1].Info, p.Dirs[:n-1]
	}
	return p
}

// start is the root of an absolute path, and the elements that follow.
func (w *Walker) start(path string) (Place, []string) {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	p := Place{Path: root}
	if n := w.look(root); n.info != nil {
		p.Info = n.info
		p.Dirs = []Step{{root, n.info}}
	}
	return p, Split(path[len(volume):])
}

func (p *Place) restart(at Place) { p.Path, p.Info, p.Dirs = at.Path, at.Info, at.Dirs }

func (p *Place) up() {
	if len(p.Dirs) > 1 {
		p.Dirs = p.Dirs[: len(p.Dirs)-1 : len(p.Dirs)-1]
	}
	if n := len(p.Dirs); n > 0 {
		p.Path, p.Info = p.Dirs[n-1].Path, p.Dirs[n-1].Info
	}
}

// ahead ends at a path whose rest is not there.
func (p *Place) ahead(next string, rest []string) Place {
	p.Path, p.Info = filepath.Join(append([]string{next}, rest...)...), nil
	return *p
}

// ownProc goes on below /proc/self as the command would see it; false: nobody knows where that leads.
func (w *Walker) ownProc(p *Place, rest *[]string) bool {
	if len(*rest) == 0 {
		return false
	}
	first, others := (*rest)[0], (*rest)[1:]
	if first == "task" && len(others) > 1 { // of a thread: the same
		first, others = others[1], others[2:]
	}
	if first != "root" && first != "cwd" {
		return false
	}
	at, elements := w.start("/")
	if first == "cwd" {
		at, elements = w.start(w.Cwd)
	}
	p.restart(at)
	*rest = append(elements, others...)
	return true
}

// linkTarget is where a link leads. The links that the kernel makes up below /proc may say "pipe:[1]" or name a file
// by a path that is gone; then there is nothing to follow and info says what is behind them.
func linkTarget(path string, n node) (target string, info fs.FileInfo) {
	if !strings.HasPrefix(path, "/proc/") {
		return n.target, nil
	}
	if !filepath.IsAbs(n.target) && !strings.Contains(n.target, ":[") {
		return n.target, nil // an ordinary link such as /proc/mounts
	}
	behind, err := os.Stat(path)
	if err != nil {
		return n.target, nil
	}
	if named, err := os.Stat(n.target); err == nil && os.SameFile(behind, named) {
		return n.target, nil
	}
	return n.target, behind
}

package guard

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/maishell/maishell/guard/paths"
)

// maxEntries bounds the directory entries that a pattern is tried on.
const maxEntries = 2000

// glob says how the files that match an absolute pattern stand to the own files, as far as the names tell: against
// every name on the way to an own file, and against the links that exist where the pattern looks.
func (v *view) glob(text string) relation {
	v.prepare()
	if v.w.Spend(1 + len(v.names)/2); v.w.Exhausted() {
		return apart // the whole decision is a deny
	}
	pattern := paths.ParsePattern(text)
	at := v.w.Follow(pattern.Dir, true)
	if v.inside(&at) {
		return own
	}
	r, dirsOnly := apart, strings.HasSuffix(text, "/")
	for name, rel := range v.names {
		if dirsOnly && v.isOwnFile(name) {
			continue
		}
		if below, ok := below(name, at.Path); ok && r < rel && pattern.Matches(below) {
			r = rel
		}
	}
	for _, d := range v.dirs {
		if below, ok := below(d.Path, at.Path); ok && pattern.Passes(below) {
			return own
		}
	}
	if len(pattern.Rest) == 1 && r < own && v.links(at.Path, pattern.Rest[0], dirsOnly) {
		return own
	}
	return r
}

// isOwnFile reports the name of an own file, in the form of paths.Key, where no directory stands.
func (v *view) isOwnFile(name string) bool {
	for i := range v.files {
		if p := &v.files[i]; paths.Key(p.Path) == name {
			return p.Info == nil || !p.Info.IsDir()
		}
	}
	return false
}

// below returns the elements of path after those of dir.
func below(path, dir string) ([]string, bool) {
	if !paths.Within(dir, path) {
		return nil, false
	}
	return paths.Split(strings.TrimPrefix(paths.Key(path), paths.Key(dir))), true
}

// list reads a directory once; what cannot be read has no entries.
func (v *view) list(dir string) []fs.DirEntry {
	entries, known := v.listed[dir]
	if !known {
		if d, err := os.Open(dir); err == nil {
			entries, _ = d.ReadDir(maxEntries)
			_ = d.Close()
		}
		if v.listed == nil {
			v.listed = map[string][]fs.DirEntry{}
		}
		v.listed[dir] = entries
		v.w.Spend(len(entries))
	}
	v.w.Spend(1 + len(entries)/8)
	return entries
}

// links reports whether an entry of dir that matches is a link to an own file; dirsOnly: to a directory.
func (v *view) links(dir, pattern string, dirsOnly bool) bool {
	for _, e := range v.list(dir) {
		if !paths.MatchName(pattern, paths.Key(e.Name())) {
			continue
		}
		if e.Type()&fs.ModeSymlink == 0 {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || !paths.MoreNames(info) {
				continue
			}
		}
		path := filepath.Join(dir, e.Name())
		if dirsOnly {
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				continue
			}
		}
		if v.relate(path) == own {
			return true
		}
	}
	return false
}

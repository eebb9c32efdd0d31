package watch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds how many links in a row are followed, as systems do.
const maxLinks = 40

// refresh watches the directories that the paths lead through now. It is cheap when they are the same.
func (w *Watcher) refresh() {
	w.names, w.dirs = nil, nil
	files := slices.Clone(w.o.Files)
	wanted := map[string]bool{}
	for _, d := range w.o.Dirs {
		entries, _ := list(d) // none: what is missing is read as such
		files = append(files, entries...)
		real := w.way(filepath.Join(d.Path, "any"), wanted)
		w.dirs = append(w.dirs, fold(filepath.Dir(real)))
	}
	for _, f := range files {
		for _, hop := range hops(f) {
			w.way(hop, wanted)
		}
	}
	if w.events == nil {
		return
	}
	active := w.events.WatchList()
	for dir := range maps.Clone(w.watched) {
		if !wanted[dir] {
			w.forget(dir)
		}
	}
	for dir := range wanted {
		w.watch(dir, slices.Contains(active, dir))
	}
}

// way adds the directory that path is in, or the nearest one above it that exists, to wanted, and the names to listen
// for. It returns path with that directory's links resolved.
func (w *Watcher) way(path string, wanted map[string]bool) string {
	w.names = append(w.names, fold(path))
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && isDir(real) {
			wanted[real] = true
			path = filepath.Join(real, strings.TrimPrefix(path, dir))
			w.names = append(w.names, fold(path))
			return path
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// hops returns path and, as long as it is a link, what it points to.
func hops(path string) []string {
	out := []string{path}
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return out
		}
		if !filepath.IsAbs(target) {
			dir := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(dir); err == nil && strings.Contains(target, "..") {
				dir = real // a ".." goes up from where the directory really is
			}
			target = filepath.Join(dir, target)
		}
		path = target
		out = append(out, path)
	}
	return out
}

// watch has the system tell about a directory. One that was replaced by another of the same name is watched anew.
func (w *Watcher) watch(dir string, active bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return // gone again: the next look sees to it
	}
	if old := w.watched[dir]; active && old != nil && os.SameFile(old, info) {
		return
	}
	w.forget(dir)
	if !eventful(dir) {
		return
	}
	if err := w.events.Add(dir); err != nil {
		if !w.mute[dir] {
			w.mute[dir] = true
			w.o.Logger.Debug("no file events for a directory", "dir", dir, "err", err)
		}
		return
	}
	delete(w.mute, dir)
	w.watched[dir] = info
}

func (w *Watcher) forget(dir string) {
	if _, ok := w.watched[dir]; ok {
		delete(w.watched, dir)
		_ = w.events.Remove(dir) // an error says that it is not watched any more
	}
}

// concerns reports whether something that happened to name can change what is watched.
func (w *Watcher) concerns(name string) bool {
	name = fold(filepath.Clean(name))
	for _, n := range w.names {
		if rest, ok := strings.CutPrefix(n, name); ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(name[len(name)-1])) {
			return true
		}
	}
	return slices.Contains(w.dirs, filepath.Dir(name))
}

// fold makes names equal that some system takes for the same. Two that are taken for equal by mistake cost a look.
func fold(path string) string { return strings.ToLower(path) }

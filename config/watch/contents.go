package watch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// maxFile bounds how much of a file is compared, in bytes; of a bigger one size and time count.
const maxFile = 4 << 20

// content is what is in a file. state is empty when it could be read, else why not.
type content struct {
	state string
	data  []byte
}

func (c content) equal(other content) bool {
	return c.state == other.state && bytes.Equal(c.data, other.data)
}

// contents are all watched files, and the state of the watched directories, by path.
type contents map[string]content

func (c contents) equal(other contents) bool {
	return c != nil && other != nil && maps.EqualFunc(c, other, content.equal)
}

// cut reports whether c may be a moment on the way from before to something else: a file that is gone, or that ends
// too early, as it does between a truncation and the last write, or between a deletion and the re-creation.
func (c contents) cut(before contents) bool {
	for path, was := range before {
		if was.state != "" {
			continue
		}
		is, ok := c[path]
		if !ok || is.state != "" || endsEarly(was.data, is.data) {
			return true
		}
	}
	return false
}

func endsEarly(was, is []byte) bool {
	newline := []byte("\n")
	return len(is) < len(was) && bytes.HasPrefix(was, is) || bytes.HasSuffix(was, newline) && !bytes.HasSuffix(is, newline)
}

// read looks at everything that is watched.
func (w *Watcher) read() contents {
	out := contents{}
	for _, f := range w.o.Files {
		out[f] = readFile(f)
	}
	for _, d := range w.o.Dirs {
		names, err := list(d)
		out[d.Path] = content{state: stateOf(err)}
		for _, name := range names {
			out[name] = readFile(name)
		}
	}
	return out
}

// list returns the paths of the entries that count, directories left out.
func list(d Dir) ([]string, error) {
	entries, err := os.ReadDir(d.Path)
	var out []string
	for _, e := range entries {
		if ok, _ := filepath.Match(d.Glob, e.Name()); ok && !e.IsDir() { // the pattern was checked
			out = append(out, filepath.Join(d.Path, e.Name()))
		}
	}
	return out, err
}

// readFile opens regular files only, so that a pipe does not block.
func readFile(path string) content {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return content{state: stateOf(err)}
	case !info.Mode().IsRegular():
		return content{state: "irregular"}
	case info.Size() > maxFile:
		return content{state: fmt.Sprint("big ", info.Size(), info.ModTime().UnixNano())}
	}
	f, err := os.Open(path)
	if err != nil {
		return content{state: stateOf(err)}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return content{state: stateOf(err)}
	}
	return content{data: data}
}

func stateOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	}
	return err.Error()
}

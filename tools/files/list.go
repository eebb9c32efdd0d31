package files

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/tools"
)

const (
	maxEntries = 200
	// maxScanned bounds how many names are read and sorted.
	maxScanned = 20000
	batch      = 1000
)

// directory is the body of list_dir, and of read_file for a directory.
type directory struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"` // directories first, each group by name
	Total     int     `json:"total"`   // names in the directory that count
	Truncated bool    `json:"truncated"`
	Note      string  `json:"note,omitempty"`
}

// entry is one name.
type entry struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // dir, file, link, other
	Size     int64  `json:"size_bytes,omitempty"`
	Modified string `json:"modified,omitempty"` // RFC 3339, UTC
	Target   string `json:"target,omitempty"`   // of a link
}

func (h *handler) planList(ctx context.Context, a listArgs) (guard.Action, error) {
	t, err := h.locate(ctx, cmp.Or(a.Path, "."))
	if err != nil {
		return guard.Action{}, err
	}
	return guard.Action{Reads: []string{t.abs}}, nil
}

func (h *handler) list(ctx context.Context, a listArgs, _ guard.Action) (tools.Result, error) {
	t, err := h.locate(ctx, cmp.Or(a.Path, "."))
	if err != nil {
		return tools.Result{}, err
	}
	f, fi, err := h.openRead(t)
	if err != nil {
		return tools.Result{}, fault(t, err)
	}
	defer f.Close()
	if !fi.IsDir() {
		return tools.Result{}, tools.Invalid("tool_files.not_dir", "path", t.asked)
	}
	return h.listing(t, f, a.Hidden)
}

// listing reads an open directory.
func (h *handler) listing(t target, f *os.File, hidden bool) (tools.Result, error) {
	cat := h.opts.Texts()
	names, left, full, err := scan(f, hidden)
	if err != nil {
		return tools.Result{}, fault(t, err)
	}
	body := directory{Path: t.abs, Total: len(names), Entries: []entry{}}
	var notes []string
	if len(names) > maxEntries {
		body.Truncated = true
		notes = append(notes, cat.Say("tool_files.entries_cut", maxEntries, len(names)))
		names = names[:maxEntries]
	}
	if !full {
		body.Truncated = true
		notes = append(notes, cat.Say("tool_files.dir_huge", maxScanned))
	}
	if left > 0 {
		notes = append(notes, cat.Say("tool_files.hidden_left", left))
	}
	body.Note = strings.Join(notes, " ")
	look, done, err := looker(t)
	if err != nil {
		return tools.Result{}, fault(t, err)
	}
	defer done()
	for _, d := range names {
		body.Entries = append(body.Entries, look(d))
	}
	return tools.Result{Body: body}, nil
}

// scan reads the names, directories first. left counts hidden ones that were left out; full is false when there are more.
func scan(f *os.File, hidden bool) (names []fs.DirEntry, left int, full bool, err error) {
	for len(names)+left < maxScanned {
		some, err := f.ReadDir(batch)
		for _, d := range some {
			if !hidden && strings.HasPrefix(d.Name(), ".") {
				left++
				continue
			}
			names = append(names, d)
		}
		if errors.Is(err, io.EOF) {
			full = true
			break
		}
		if err != nil {
			return nil, 0, false, err
		}
	}
	slices.SortFunc(names, func(a, b fs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return names, left, full, nil
}

// looker describes entries of the target, staying below its root.
func looker(t target) (look func(fs.DirEntry) entry, done func(), err error) {
	lstat := func(name string) (fs.FileInfo, error) { return os.Lstat(filepath.Join(t.abs, name)) }
	readlink := func(name string) (string, error) { return os.Readlink(filepath.Join(t.abs, name)) }
	done = func() {}
	if t.root != "" {
		root, err := openRoot(t)
		if err != nil {
			return nil, nil, err
		}
		lstat = func(name string) (fs.FileInfo, error) { return root.Lstat(filepath.Join(t.rel, name)) }
		readlink = func(name string) (string, error) { return root.Readlink(filepath.Join(t.rel, name)) }
		done = func() { _ = root.Close() }
	}
	return func(d fs.DirEntry) entry {
		e := entry{Name: d.Name(), Type: kind(d.Type())}
		fi, err := lstat(d.Name())
		if err != nil {
			return e // gone meanwhile
		}
		e.Type = kind(fi.Mode())
		e.Modified = fi.ModTime().UTC().Format(time.RFC3339)
		switch e.Type {
		case "file":
			e.Size = fi.Size()
		case "link":
			if to, err := readlink(d.Name()); err == nil {
				e.Target = to
			}
		}
		return e
	}, done, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "dir"
	case m.IsRegular():
		return "file"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

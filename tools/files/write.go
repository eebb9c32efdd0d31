package files

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/tools"
)

// The modes of write_file.
const (
	modeOverwrite = "overwrite"
	modeCreate    = "create"
	modeAppend    = "append"
)

// written is the body of write_file.
type written struct {
	Path   string `json:"path"`
	Bytes  int    `json:"bytes"`
	Action string `json:"action"` // created, overwritten, appended
}

func (h *handler) planWrite(ctx context.Context, a writeArgs) (guard.Action, error) {
	t, err := h.locate(ctx, a.Path)
	if err != nil {
		return guard.Action{}, err
	}
	action := guard.Action{Writes: []string{t.abs}, Effects: []guard.Effect{guard.Write}}
	stat, _, done, err := opener(t)
	if err != nil {
		return guard.Action{}, err
	}
	defer done()
	switch _, err := stat(); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return guard.Action{}, fault(t, err)
	case a.mode() == modeOverwrite:
		action.Effects = []guard.Effect{guard.Overwrite}
	}
	return action, nil
}

func (a writeArgs) mode() string {
	if a.Mode == "" {
		return modeOverwrite
	}
	return a.Mode
}

func (h *handler) write(ctx context.Context, a writeArgs, checked guard.Action) (tools.Result, error) {
	t, err := h.locate(ctx, a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	p, err := h.enter(t)
	if err != nil {
		return tools.Result{}, fault(t, err)
	}
	defer func() { _ = p.root.Close() }()
	mayReplace := slices.Contains(checked.Effects, guard.Overwrite)
	action, err := h.put(t, p, a, mayReplace)
	if err != nil {
		return tools.Result{}, fault(t, err)
	}
	return tools.Result{Body: written{Path: t.abs, Bytes: len(a.Content), Action: action}}, nil
}

// put writes the content at a place and says what it did.
func (h *handler) put(t target, p place, a writeArgs, mayReplace bool) (string, error) {
	before, err := p.root.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return "created", h.create(t, p, a.Content)
	}
	if err != nil {
		return "", err
	}
	link := before.Mode()&fs.ModeSymlink != 0
	if link {
		// Below a workspace a link may be followed, inside it; elsewhere links were resolved on the way here.
		before, err = p.root.Stat(p.name)
		if t.root == "" || errors.Is(err, fs.ErrNotExist) {
			return "", tools.Invalid("tool_files.dangling", "path", t.asked)
		}
		if err != nil {
			return "", err
		}
	}
	switch {
	case before.IsDir():
		return "", tools.Invalid("tool_files.is_dir", "path", t.asked)
	case !before.Mode().IsRegular():
		return "", errSpecial
	case a.mode() == modeCreate:
		return "", tools.Invalid("tool_files.exists", "path", t.asked)
	case a.mode() == modeOverwrite && !mayReplace:
		return "", errSwapped // it was not there when the call was checked
	}
	return h.change(t, p, a, link)
}

// create makes a new file, or nothing.
func (h *handler) create(t target, p place, content string) error {
	f, err := p.root.OpenFile(p.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return errSwapped
	}
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err == nil && h.own(t.abs, fi) {
		err = errOwn
	}
	if err == nil {
		_, err = f.WriteString(content)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, p.root.Remove(p.name))
	}
	return nil
}

// change overwrites or extends a file that exists, after a look at the opened handle and before anything is cut off.
func (h *handler) change(t target, p place, a writeArgs, link bool) (string, error) {
	flags := os.O_WRONLY | nonblock
	if a.mode() == modeAppend {
		flags |= os.O_APPEND
	}
	f, err := p.root.OpenFile(p.name, flags, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !fi.Mode().IsRegular():
		return "", errSpecial
	case h.own(t.abs, fi):
		return "", errOwn
	}
	if a.mode() == modeAppend {
		_, err = f.WriteString(a.Content)
		return "appended", errors.Join(err, f.Close())
	}
	if !link && replaceable(f) {
		done, err := replace(p, f, fi, a.Content)
		if done || err != nil {
			return "overwritten", err
		}
	}
	// Another name or owner would be lost by a replacement: write over it, and cut off the rest last.
	if _, err = f.WriteAt([]byte(a.Content), 0); err == nil {
		err = f.Truncate(int64(len(a.Content)))
	}
	return "overwritten", errors.Join(err, f.Close())
}

// replace puts a new file in the place of f, so that a failure leaves the old content. done is false without an error when
// we may not make files in the directory, or none of the same group: then nothing has happened.
func replace(p place, f *os.File, fi fs.FileInfo, content string) (done bool, err error) {
	name := filepath.Join(filepath.Dir(p.name), ".maishell-"+rand.Text()+".tmp")
	tmp, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if sameGroup(tmp, f) != nil {
		return false, errors.Join(tmp.Close(), p.root.Remove(name))
	}
	_, err = tmp.WriteString(content)
	if err == nil {
		err = tmp.Chmod(fi.Mode().Perm())
	}
	if err == nil {
		err = tmp.Sync()
	}
	// Windows renames only over files that nobody has open.
	err = errors.Join(err, tmp.Close(), f.Close())
	if err == nil {
		err = p.root.Rename(name, p.name)
	}
	if err != nil {
		return false, errors.Join(err, p.root.Remove(name))
	}
	return true, nil
}

package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
)

// target is a path as it will be used.
type target struct {
	asked string // as given, bounded, for messages
	abs   string // absolute and clean
	root  string // the workspace, from which rel cannot escape; empty: abs may be anywhere
	rel   string // below root
}

// locate decides where a path lies and whether the caller may go there. The path is cleaned before anything is checked or
// opened: what was checked is what is opened.
func (h *handler) locate(ctx context.Context, asked string) (target, error) {
	origin, ok := session.FromContext(ctx)
	if !ok {
		return target{}, tools.Denied("tool_files.no_origin")
	}
	t := target{asked: tools.Clip(asked, 1000)}
	if strings.TrimSpace(asked) == "" || strings.IndexByte(asked, 0) >= 0 {
		return target{}, tools.Invalid("tool_files.path_bad", "path")
	}
	path, err := tools.ExpandHome(asked)
	if err != nil {
		return target{}, err
	}
	s := h.opts.Settings()
	role := session.Effective(origin, func(roles.Caller) roles.Role { return h.opts.Role(origin) })
	open := s.AdminOpen && role.AtLeast(roles.Admin)
	if !filepath.IsAbs(path) {
		if s.Workspace == "" {
			return target{}, tools.Invalid("tool_files.no_workspace", "path")
		}
		// Not merely relative: \x and C:x on Windows name other places than they seem to.
		if filepath.VolumeName(path) != "" || os.IsPathSeparator(path[0]) {
			return target{}, tools.Invalid("tool_files.path_bad", "path")
		}
		path = filepath.Join(s.Workspace, path)
	}
	t.abs = filepath.Clean(path)
	if open {
		return t, nil
	}
	if s.Workspace == "" {
		return target{}, tools.Denied("tool_files.no_workspace", "path")
	}
	t.root = s.Workspace
	if t.rel, ok = within(s.Workspace, t.abs); !ok {
		return target{}, tools.Denied("tool_files.outside", "path", t.asked, s.Workspace)
	}
	t.abs = filepath.Join(s.Workspace, t.rel)
	return t, nil
}

// within gives path relative to the workspace, which may be named through links or by its real path.
func within(workspace, path string) (string, bool) {
	bases := []string{workspace}
	if real, err := filepath.EvalSymlinks(workspace); err == nil && real != workspace {
		bases = append(bases, real)
	}
	for _, base := range bases {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

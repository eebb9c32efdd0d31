package config

import (
	"path/filepath"
	"strings"
)

// Dirs are the directories of one user, absolute. State is never above or below "files" in Data: tools may change
// the one and not the other.
type Dirs struct {
	Config string // the configuration file
	Data   string // what is worked with; the workspace is "files" in it
	State  string // database, spools, sockets
}

// noHome is the error of UserDirs when the environment does not say where the user's files are.
type noHome struct{ variable string }

func (e *noHome) Error() string { return "no home directory: " + e.variable + " is not set" }

// TextID returns the message id and its value: the variable that is missing.
func (e *noHome) TextID() (string, []any) { return "config.no_home", []any{e.variable} }

// UserDirs returns the directories of the user we run as. It makes none of them.
func UserDirs(getenv func(string) string) (Dirs, error) { return userDirs(getenv) }

// absolute returns path with "~" at its beginning expanded; it is not ok when the result is not absolute.
func absolute(path string, home func() string) (string, bool) {
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) {
		h := home()
		if h == "" {
			return path, false
		}
		path = filepath.Join(h, path[1:])
	}
	if !filepath.IsAbs(path) {
		return path, false
	}
	return filepath.Clean(path), true
}

// first returns the first absolute one of paths; the rules for such variables say that others do not count.
func first(paths ...string) string {
	for _, p := range paths {
		if filepath.IsAbs(p) {
			return p
		}
	}
	return ""
}

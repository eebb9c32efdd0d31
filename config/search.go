package config

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

const (
	fileName     = "config.toml"
	fileVariable = "MAISHELL_CONFIG"
)

// find returns the path of the file in use and its text, or nothing when there is none.
func find(o Options, getenv func(string) string) (string, []byte, []*Problem) {
	if path := named(o, getenv); path != "" {
		data, bad := readFile(path)
		return path, data, bad
	}
	if o.Dir != "" {
		path := filepath.Join(o.Dir, fileName)
		data, bad := readFile(path)
		// Many projects have a file of this name: only one that says so is ours. One that may not be read could be.
		if hasVersion(data) || len(bad) > 0 && bad[0].Code == "config.unreadable" {
			return path, data, bad
		}
	}
	for _, dir := range standing(o, getenv) {
		path := filepath.Join(dir, fileName)
		data, bad := readFile(path)
		if len(bad) == 1 && bad[0].Code == "config.missing" {
			continue
		}
		return path, data, bad
	}
	return "", nil, nil
}

// named is the file that somebody named, or nothing.
func named(o Options, getenv func(string) string) string {
	path := o.Path
	if path == "" {
		path = getenv(fileVariable)
	}
	if path != "" && !filepath.IsAbs(path) && o.Dir != "" {
		path = filepath.Join(o.Dir, path)
	}
	return path
}

// standing are the directories that are searched wherever we are started.
func standing(o Options, getenv func(string) string) []string {
	var out []string
	user := o.ConfigDir
	if user == "" {
		if dirs, err := UserDirs(getenv); err == nil { // no home, no file in it
			user = dirs.Config
		}
	}
	if user != "" {
		out = append(out, user)
	}
	system := o.System
	if system == "" {
		system = systemDir(getenv)
	}
	return append(out, system)
}

// candidates lists every path that find may look at, now or with other arguments.
func candidates(o Options, getenv func(string) string) []string {
	var out []string
	for _, path := range []string{named(o, getenv), named(Options{Dir: o.Dir}, getenv)} {
		if path != "" {
			out = append(out, filepath.Clean(path))
		}
	}
	dirs := standing(o, getenv)
	if o.Dir != "" {
		dirs = append([]string{o.Dir}, dirs...)
	}
	for _, dir := range dirs {
		out = append(out, filepath.Join(dir, fileName))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hasVersion says whether config_version is set before the first table. It looks at lines rather than at TOML, so that
// a file of ours with a mistake in it, or saved as UTF-16, is still ours.
func hasVersion(data []byte) bool {
	data = bytes.TrimLeft(bytes.ReplaceAll(data, []byte{0}, nil), "\xff\xfe")
	for line := range bytes.Lines(data) {
		key, _, ok := strings.Cut(string(line), "=")
		key = strings.TrimSpace(key)
		if strings.HasPrefix(key, "[") {
			return false
		}
		if ok && strings.Trim(key, `"'`) == "config_version" {
			return true
		}
	}
	return false
}

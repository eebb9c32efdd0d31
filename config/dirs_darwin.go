package config

import "path/filepath"

// userDirs follows the conventions of the system's Library folder.
func userDirs(getenv func(string) string) (Dirs, error) {
	h := home(getenv)
	if h == "" {
		return Dirs{}, &noHome{"HOME"}
	}
	base := filepath.Join(h, "Library", "Application Support", "maishell")
	return Dirs{Config: base, Data: base, State: filepath.Join(base, "state")}, nil
}

func home(getenv func(string) string) string { return first(getenv("HOME")) }

func systemDir(func(string) string) string { return "/etc/maishell" }

func sameName(a, b string) bool { return a == b }

package config

import (
	"path/filepath"
	"strings"
)

// userDirs keeps the configuration in the roaming profile and everything else on this machine.
func userDirs(getenv func(string) string) (Dirs, error) {
	roaming, local := first(getenv("APPDATA")), first(getenv("LOCALAPPDATA"))
	switch {
	case roaming == "":
		return Dirs{}, &noHome{"APPDATA"}
	case local == "":
		return Dirs{}, &noHome{"LOCALAPPDATA"}
	}
	data := filepath.Join(local, "maishell")
	return Dirs{Config: filepath.Join(roaming, "maishell"), Data: data, State: filepath.Join(data, "state")}, nil
}

func home(getenv func(string) string) string { return first(getenv("USERPROFILE")) }

func systemDir(getenv func(string) string) string {
	return filepath.Join(first(getenv("ProgramData"), `C:\ProgramData`), "maishell")
}

// sameName compares names of variables, which have no case here.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

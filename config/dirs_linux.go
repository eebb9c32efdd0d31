package config

import (
	"os"
	"path/filepath"
)

const app = "maishell"

// userDirs follows the XDG base directories; root keeps its state where services do.
func userDirs(getenv func(string) string) (Dirs, error) { return xdgDirs(getenv, os.Geteuid()) }

func xdgDirs(getenv func(string) string, uid int) (Dirs, error) {
	h := homeOf(getenv, uid)
	if h == "" {
		return Dirs{}, &noHome{"HOME"}
	}
	d := Dirs{
		Config: filepath.Join(first(getenv("XDG_CONFIG_HOME"), filepath.Join(h, ".config")), app),
		Data:   filepath.Join(first(getenv("XDG_DATA_HOME"), filepath.Join(h, ".local", "share")), app),
		State:  filepath.Join(first(getenv("XDG_STATE_HOME"), filepath.Join(h, ".local", "state")), app),
	}
	if uid == 0 {
		d.State = "/var/lib/maishell"
	}
	return d, nil
}

func home(getenv func(string) string) string { return homeOf(getenv, os.Geteuid()) }

// homeOf is HOME; services often run without it, and root's is known.
func homeOf(getenv func(string) string, uid int) string {
	if h := first(getenv("HOME")); h != "" || uid != 0 {
		return h
	}
	return "/root"
}

func systemDir(func(string) string) string { return "/etc/maishell" }

func sameName(a, b string) bool { return a == b }

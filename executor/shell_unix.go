//go:build unix

package executor

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// defaultShell returns the POSIX shell; the user's own $SHELL may be anything.
func defaultShell([]string) string { return "/bin/sh" }

// enterable says why dir cannot be entered, or nil.
func enterable(dir string) error {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.X_OK, unix.AT_EACCESS)
}

// shellArgs returns the argument vector with which shell reads command, without the user's start-up files. The text
// could be taken for an option when it begins with a sign.
func shellArgs(shell, command string) []string {
	name := filepath.Base(shell)
	args := append(make([]string, 0, 6), name)
	switch name {
	case "bash":
		args = append(args, "--norc", "--noprofile")
	case "zsh":
		args = append(args, "-f")
	}
	args = append(args, "-c")
	if command[0] == '-' || command[0] == '+' {
		args = append(args, "--")
	}
	return append(args, command)
}

// findProgram returns the path of name, searched in the PATH of env when it is not a path itself.
func findProgram(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(path) {
			continue // would depend on where we stand
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", &Error{Code: codeShellMissing, Args: []any{name}}
}

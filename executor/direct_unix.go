//go:build unix

package executor

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A command that is one plain external program is started without the shell, which would do no more than that: it saves
// half the time, the shell in the process list, and a match of `pkill -f` on the shell's own arguments. What is not
// plainly so (an expansion, an operator, a builtin, a script without an interpreter, a name that is not found) goes
// through the shell, whose messages and exit codes nobody imitates then.

// launch is one way to start a command.
type launch struct {
	path string
	args []string
}

// launches returns the ways to start s, the next for when the system refuses the one before.
func launches(s *spawnSpec) ([]launch, error) {
	shell, err := findProgram(s.shell, s.env)
	if err != nil {
		return nil, err
	}
	through := launch{shell, shellArgs(shell, s.command)}
	if args := plainWords(s.command); args != nil && readsPlainly(shell) && !shellsOwn(args[0]) {
		if path := nativeProgram(args[0], s.env); path != "" {
			return []launch{{path, args}, through}, nil
		}
	}
	return []launch{through}, nil
}

// readsPlainly reports whether the shell takes plain words for what they are. In others "=ls" or "%1" may mean more, and a
// program elsewhere than where systems keep their shells may be somebody's own, made to look at every command.
func readsPlainly(shell string) bool {
	if dir := filepath.Dir(shell); dir != "/bin" && dir != "/usr/bin" {
		return false
	}
	switch filepath.Base(shell) {
	case "sh", "dash", "bash", "ash", "ksh", "mksh":
		return true
	}
	return false
}

// plainWords returns the words of a text in which every shell sees one command and nothing to expand: words without
// special characters, or quoted as a whole or in part, between blanks. nil: anything else.
func plainWords(text string) []string {
	var words []string
	var word strings.Builder
	started := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			if started {
				words = append(words, word.String())
				word.Reset()
				started = false
			}
			continue
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return nil
			}
			quoted := text[i+1 : i+1+n]
			if c == '"' && strings.ContainsAny(quoted, "$`\\!") {
				return nil
			}
			word.WriteString(quoted)
			i += n + 1
		case plainByte(c):
			word.WriteByte(c)
		default:
			return nil
		}
		started = true
	}
	if started {
		words = append(words, word.String())
	}
	// NAME=VALUE before a command is an assignment.
	if len(words) == 0 || words[0] == "" || strings.ContainsRune(words[0], '=') {
		return nil
	}
	return words
}

// plainByte reports what stands for itself in every place of a word.
func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_./:,=+@%", c) >= 0
}

// shellsOwn reports a name that some shell takes for a builtin or a reserved word, and setsid, for which it matters
// whether it is the shell's child (then it becomes the program) or leads our session already (then it forks).
func shellsOwn(name string) bool {
	switch name {
	case ".", ":", "[", "alias", "autoload", "bg", "bind", "break", "builtin", "caller", "case", "cd", "chdir", "command",
		"compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs", "disown", "do", "done", "echo", "elif",
		"else", "enable", "esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "function", "getopts",
		"global", "hash", "hist", "history", "help", "if", "in", "inlib", "integer", "jobs", "kill", "let", "local",
		"logout", "mapfile", "nameref", "newgrp", "popd", "print", "printf", "pushd", "pwd", "read", "readarray", "readonly",
		"realpath", "rename", "repeat", "return", "select", "set", "setsid", "setvar", "shift", "shopt", "source",
		"stop", "suspend", "test", "then", "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias",
		"unset", "until", "wait", "whence", "while", "wordexp":
		return true
	}
	return false
}

// nativeProgram returns the file that a shell would execute for name, or "" when there is none, when that depends on
// where we stand, or when it is no machine program: what becomes of other files is the shell's decision.
func nativeProgram(name string, env []string) string {
	path := name
	switch {
	case !strings.ContainsRune(name, '/'):
		for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
			if !filepath.IsAbs(dir) {
				return ""
			}
		}
		var err error
		if path, err = findProgram(name, env); err != nil {
			return ""
		}
	case !filepath.IsAbs(name):
		return ""
	}
	if !hasNativeMagic(path) {
		return ""
	}
	return path
}

// hasNativeMagic reports whether the file begins as ELF or Mach-O programs do. It does not wait for a FIFO.
func hasNativeMagic(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false // a program that may be executed but not read, for one
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }()
	var magic [4]byte
	if n, err := f.Read(magic[:]); err != nil || n != len(magic) {
		return false
	}
	switch string(magic[:]) {
	case "\x7fELF", "\xfe\xed\xfa\xce", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe":
		return true
	}
	return false
}

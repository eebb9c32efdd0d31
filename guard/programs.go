package guard

import (
	"slices"
	"strings"

	"github.com/maishell/maishell/policy"
)

// use is a command seen by what its program does to the files it names.
type use struct {
	name string
	kind kind
	args []policy.Word // those that are its own: without the command that a wrapper runs
	all  []policy.Word
}

type kind int

const (
	other       kind = iota
	reader           // only reads what it names
	speaker          // its words are not files
	remover          // what it does to a directory, it does to what is in it
	mover            // the same, except to where it moves things
	placer           // makes files in a directory, named as what they are made from
	unpacker         // makes files in a directory, named by something that cannot be seen
	interpreter      // its words are programs, in which a path may stand anywhere
)

func kindOf(name string) kind {
	switch name {
	case "cat", "tac", "nl", "ls", "dir", "stat", "head", "tail", "wc", "grep", "egrep", "fgrep", "file", "cksum", "md5sum",
		"sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "diff", "cmp", "comm", "du", "readlink",
		"realpath", "basename", "dirname", "test", "[", "[[", "od", "hexdump", "strings", "cd", "pushd":
		return reader
	case "echo", "printf", ":", "true", "false", "sleep", "exit", "return", "set", "kill", "pkill", "killall", "which", "type":
		return speaker
	case "rm", "rmdir", "unlink", "shred", "srm", "chmod", "chown", "chgrp", "chattr", "setfacl", "chcon", "truncate", "dd",
		"mount", "umount", "wipefs", "trash", "rename", "gio":
		return remover
	case "mv":
		return mover
	case "cp", "ln", "install", "scp", "wget", "curl", "aria2c":
		return placer
	case "tar", "bsdtar", "unzip", "7z", "7za", "cpio", "rsync", "patch":
		return unpacker
	case "sh", "dash", "ash", "bash", "zsh", "ksh", "mksh", "fish", "eval", "perl", "ruby", "node", "deno", "bun", "php", "awk",
		"gawk", "mawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs", "lua", "tclsh", "expect", "sqlite3", "gdb", "xargs",
		"osascript", "busybox":
		return interpreter
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		return interpreter
	}
	return other
}

// byWrapper maps a chain of wrappers to the first command behind it.
func byWrapper(commands []policy.Command) map[string]*policy.Command {
	var out map[string]*policy.Command
	for i := range commands {
		c := &commands[i]
		if len(c.Via) == 0 {
			continue
		}
		if out == nil {
			out = map[string]*policy.Command{}
		}
		if key := strings.Join(c.Via, "\x00"); out[key] == nil {
			out[key] = c
		}
	}
	return out
}

// newUse separates a command's own words from those of the command that it runs, which is listed by itself.
func newUse(c *policy.Command, byWrapper map[string]*policy.Command) *use {
	u := &use{name: programName(c.Program.Text), args: c.Args, all: c.Args}
	u.kind = kindOf(u.name)
	if len(byWrapper) > 0 {
		if inner := byWrapper[strings.Join(append(slices.Clip(c.Via), u.name), "\x00")]; inner != nil {
			at := slices.IndexFunc(c.Args, func(w policy.Word) bool { return w.Text == inner.Program.Text })
			switch {
			case at >= 0:
				u.args = c.Args[:at]
			case u.kind == interpreter:
				u.args = nil // sh -c TEXT: the commands of TEXT are all listed
			}
		}
	}
	if u.name == "find" || u.name == "gfind" {
		u.kind = reader
		if u.destroys() {
			u.kind = remover
		}
		if findsHere(c.Args) {
			u.args = append([]policy.Word{{Text: ".", Static: true}}, u.args...)
		}
	}
	return u
}

// findsHere reports a find that names no place to start from.
func findsHere(args []policy.Word) bool {
	for len(args) > 0 {
		w := args[0].Text
		switch {
		case w == "-H" || w == "-L" || w == "-P" || strings.HasPrefix(w, "-O"):
			args = args[1:]
		case w == "-D":
			args = args[min(2, len(args)):]
		default:
			return strings.HasPrefix(w, "-") || w == "(" || w == "!" || w == ","
		}
	}
	return true
}

// cleans reports a git clean that removes something.
func (u *use) cleans() bool {
	at := slices.IndexFunc(u.args, func(w policy.Word) bool { return w.Text == "clean" })
	if at < 0 {
		return false
	}
	flag := func(letter, long string) bool {
		return slices.ContainsFunc(u.args[at:], func(w policy.Word) bool {
			return w.Text == long || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, letter)
		})
	}
	return flag("f", "--force") && !flag("n", "--dry-run")
}

// destroys reports a find that changes what it finds, by itself or through a command other than a reader.
func (u *use) destroys() bool {
	for i, w := range u.all {
		switch w.Text {
		case "-delete", "-fprint", "-fprint0", "-fprintf", "-fls":
			return true
		case "-exec", "-execdir", "-ok", "-okdir":
			if i+1 == len(u.all) || kindOf(programName(u.all[i+1].Text)) != reader {
				return true
			}
		}
	}
	return false
}

// dynamic reports a command that would change a file whose name does not stand in the text.
func (u *use) dynamic() bool {
	if u.kind == reader || u.kind == speaker {
		return false
	}
	return slices.ContainsFunc(u.args, func(w policy.Word) bool { return !w.Static })
}

// targets says which words may name a directory that is changed with everything in it.
func (u *use) targets() []policy.Word {
	switch u.kind {
	case remover:
		return u.args
	case mover:
		if len(u.args) > 0 && !slices.ContainsFunc(u.args, isTargetOption) {
			return u.args[:len(u.args)-1]
		}
		return u.args
	}
	return nil
}

func isTargetOption(w policy.Word) bool {
	return strings.HasPrefix(w.Text, "-t") || strings.HasPrefix(w.Text, "--target-directory")
}

// unpacks reports whether the command makes files whose names cannot be seen.
func (u *use) unpacks() bool {
	switch u.name {
	case "tar", "bsdtar":
		return slices.ContainsFunc(u.args, func(w policy.Word) bool {
			return w.Text == "--extract" || w.Text == "--get" || !strings.HasPrefix(w.Text, "--") &&
				strings.Contains(w.Text, "x") && (strings.HasPrefix(w.Text, "-") || w == u.args[0])
		})
	case "cp":
		return slices.ContainsFunc(u.args, func(w policy.Word) bool {
			return w.Text == "--recursive" || w.Text == "--archive" || strings.HasPrefix(w.Text, "-") &&
				!strings.HasPrefix(w.Text, "--") && strings.ContainsAny(w.Text, "rRa")
		})
	}
	return u.kind == unpacker
}

// receives returns the directories that the command puts files into, as words; here means the current one too.
func (u *use) receives() (words []policy.Word, here bool) {
	switch u.name {
	case "wget", "curl", "aria2c":
		return u.args, true
	case "cp", "mv", "ln", "install", "scp", "rsync":
		if n := len(u.args); n > 0 && !slices.ContainsFunc(u.args, isTargetOption) {
			return u.args[n-1:], false
		}
		return u.args, false
	case "tar", "bsdtar", "unzip", "7z", "7za", "cpio", "patch":
		elsewhere := slices.ContainsFunc(u.args, func(w policy.Word) bool {
			return strings.HasPrefix(w.Text, "-C") || strings.HasPrefix(w.Text, "-d") || strings.HasPrefix(w.Text, "--dir") ||
				strings.HasPrefix(w.Text, "-o")
		})
		return u.args, !elsewhere
	}
	return nil, false
}

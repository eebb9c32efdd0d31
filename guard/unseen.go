package guard

import (
	"slices"
	"strings"

	"github.com/maishell/maishell/policy"
)

// unseen is what a text does to files whose names only exist when it runs.
type unseen struct {
	writes  bool // some command or redirection would change such a file
	removes bool // with everything in it
	shows   bool // some command would read one
	fed     bool // the names are the output of a command
	taken   bool // variables hold words that are the output of a command
}

// takes reports a text that puts a list of words into variables which another command makes. A single value does not
// count: that is mostly a file made for the purpose.
func takes(a *policy.Analysis) bool {
	return slices.ContainsFunc(a.Lists, isOutput) || slices.ContainsFunc(a.Commands, func(c policy.Command) bool {
		switch c.Program.Text {
		case "read", "mapfile", "readarray":
			return true
		case "set":
			return slices.ContainsFunc(c.Args, isOutput)
		}
		return slices.ContainsFunc(c.Assigns, func(as policy.Assign) bool {
			return as.Array && slices.ContainsFunc(values(as), isOutput)
		})
	})
}

// isOutput reports a word that is the output of a command.
func isOutput(w policy.Word) bool {
	text := strings.TrimLeft(w.Text, `"`)
	return !w.Static && (strings.HasPrefix(text, "$(") && !strings.HasPrefix(text, "$((") || strings.HasPrefix(text, "`"))
}

// given reports a word that another command may have made.
func (n *unseen) given(w policy.Word) bool {
	return isOutput(w) || n.taken && !w.Static && strings.HasPrefix(strings.TrimLeft(w.Text, `"`), "$")
}

// note adds what one command does.
func (n *unseen) note(t *text, c *policy.Command, u *use) {
	dynamic := u.dynamic()
	for _, r := range c.Redirects {
		if t.opensUnseen(r) {
			n.writes = true
			n.fed = n.fed || n.given(r.Target) || !r.Target.Static && slices.ContainsFunc(c.Via, isXargs)
		}
	}
	n.writes = n.writes || dynamic
	n.removes = n.removes || dynamic && (u.kind == remover || u.kind == mover)
	n.shows = n.shows || u.shows() && slices.ContainsFunc(u.args, isDynamic)
	n.fed = n.fed || dynamic && n.feeds(c, u)
}

// shows reports a program that prints what is in the files it names.
func (u *use) shows() bool {
	switch u.name {
	case "cd", "pushd", "test", "[", "[[", "basename", "dirname", "ls", "dir", "stat", "du", "file", "readlink", "realpath", "find":
		return false
	}
	return u.kind == reader
}

func isDynamic(w policy.Word) bool { return !w.Static }

// opensUnseen reports a redirection that writes to a file that the text does not show: behind an expansion, or behind a
// number that was opened before.
func (t *text) opensUnseen(r policy.Redirect) bool {
	w := r.Target
	if !r.Writes || isProcess(w) {
		return false
	}
	if w.Static {
		return t.homeLost && strings.HasPrefix(w.Text, "~") || strings.HasPrefix(w.Text, "/dev/fd/") || w.Text == "/dev/stdin" ||
			strings.HasPrefix(w.Text, "/proc/") && strings.Contains(w.Text, "/fd/")
	}
	return slices.ContainsFunc(t.expand(w.Text, w), func(e expanded) bool { return e.pattern })
}

// feeds reports a command that changes files which another command lists: behind xargs, as $(...), or in variables where
// the text takes lists into some.
func (n *unseen) feeds(c *policy.Command, u *use) bool {
	behind := slices.ContainsFunc(c.Via, isXargs)
	words := u.targets()
	switch u.name {
	case "chown", "chgrp", "chmod", "setfacl", "chcon": // owner or mode first
		if i := slices.IndexFunc(words, func(w policy.Word) bool { return !strings.HasPrefix(w.Text, "-") }); i >= 0 && !behind {
			words = words[i+1:]
		}
	case "cp", "ln", "install", "scp":
		if n := len(u.args); n > 0 && !slices.ContainsFunc(u.args, isTargetOption) {
			words = u.args[n-1:]
		}
	case "tee":
		words = u.args
	case "sed", "gsed", "perl", "ruby":
		if slices.ContainsFunc(u.args, inPlace) {
			words = u.args
		}
	case "sh", "dash", "ash", "bash", "zsh", "ksh", "mksh", "fish":
		return behind
	}
	return slices.ContainsFunc(words, func(w policy.Word) bool { return n.given(w) || behind && !w.Static })
}

func isXargs(name string) bool { return name == "xargs" || name == "gxargs" || name == "parallel" }

func inPlace(w policy.Word) bool {
	return strings.HasPrefix(w.Text, "--in-place") || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsRune(w.Text, 'i')
}

// together judges what the commands of a text can do with each other's words: own files that stand somewhere in it, and
// commands that get the names of files from elsewhere.
func (t *text) together(command string, a *policy.Analysis, n *unseen) {
	if name, ok := t.mentioned(command); ok && (a.Opaque || n.writes) {
		t.deny(RuleOwnFiles, "guard.own_mention", name)
	}
	if n.writes || n.shows {
		t.passed(a, n)
	}
	if !n.fed {
		return
	}
	for _, dir := range t.bases {
		if t.v.relate(dir) == holds {
			t.confirm("guard.own_parent", dir)
		}
	}
}

// passed judges the words that a text hands on: the items of its loops, what it assigns, what it writes out or gives to
// programs as parameters.
func (t *text) passed(a *policy.Analysis, n *unseen) {
	t.handed(a.Lists, n, true)
	for i := range a.Commands {
		c := &a.Commands[i]
		name := programName(c.Program.Text)
		if kind := kindOf(name); n.writes && (kind == speaker || kind == interpreter) {
			t.handed(c.Args, n, name == "set")
		}
		for _, as := range c.Assigns {
			if n.writes {
				t.handed(values(as), n, as.Array)
			}
		}
	}
}

// handed judges words that a command which cannot be seen may get; items: as names of files.
func (t *text) handed(words []policy.Word, n *unseen, items bool) {
	const longest = 4096 // bytes in the path of a file
	for _, w := range words {
		if t.spent() || t.found.Verdict == Deny {
			return
		}
		if len(w.Text) > longest {
			continue
		}
		for _, p := range t.paths(w) {
			if p.tail {
				continue
			}
			switch r := t.relate(p); {
			case r == own && n.writes:
				t.deny(RuleOwnFiles, "guard.own_mention", w.Text)
			case r == own && items:
				t.confirm("guard.own_read", w.Text)
			case r != apart && n.removes && items:
				t.deny(RuleOwnFiles, "guard.own_parent", w.Text)
			}
		}
	}
}

// values are the words of an assignment.
func values(a policy.Assign) []policy.Word {
	if !a.Array {
		return []policy.Word{a.Value}
	}
	_, list, _ := strings.Cut(a.Value.Text, "=")
	var out []policy.Word
	for s := range strings.FieldsSeq(strings.Trim(list, "()")) {
		s = strings.Trim(s, `"'`)
		out = append(out, policy.Word{Text: s, Static: !strings.ContainsAny(s, "$`"), Glob: strings.ContainsAny(s, "*?[{")})
	}
	return out
}

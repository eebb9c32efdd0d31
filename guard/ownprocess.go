package guard

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/maishell/maishell/guard/paths"
	"github.com/maishell/maishell/policy"
)

// starts judges a command that starts this program: only sub-commands that neither act nor change anything may run.
// The others would be orders with the rights of whoever started us, past every rule.
func (t *text) starts(c *policy.Command) {
	if c.Program.Text == "" || !t.isBinary(c.Program) {
		return
	}
	args := c.Args
	for len(args) > 0 {
		w := args[0].Text
		switch {
		case !args[0].Static:
			t.deny(RuleOwnCommands, "guard.own_command", w)
			return
		case w == "--config":
			args = args[min(2, len(args)):]
			continue
		case w == "-h" || w == "--help" || w == "--version":
			return
		case strings.HasPrefix(w, "-"):
			args = args[1:]
			continue
		}
		switch w {
		case "version", "help", "doctor", "explain", "policy", "completion":
		default:
			t.deny(RuleOwnCommands, "guard.own_command", w)
		}
		return
	}
}

func (t *text) isBinary(w policy.Word) bool {
	if slices.Contains(t.binaries(), strings.TrimSuffix(programName(w.Text), ".exe")) {
		return true
	}
	if !w.Static || !strings.ContainsAny(w.Text, `/\`) {
		return false
	}
	return slices.ContainsFunc(t.paths(w), func(p candidate) bool { return t.relate(p) == own })
}

func (t *text) binaries() []string {
	if len(t.floor.Binary) == 0 {
		return []string{"maishell"}
	}
	return t.floor.Binary
}

// signals judges a command that signals processes: not this one, by number, by name or by what a look-up finds.
func (t *text) signals(c *policy.Command, u *use, command string) {
	hit := false
	switch u.name {
	case "kill", "skill", "tkill":
		hit = slices.ContainsFunc(c.Args, t.isOurPID) ||
			len(c.Args) > 1 && slices.ContainsFunc(c.Args[1:], func(w policy.Word) bool { return w.Text == "-1" }) || // everyone
			slices.ContainsFunc(c.Args, isDynamic) && t.looksUp(command)
	case "pkill":
		hit = t.pkills(c.Args) || slices.ContainsFunc(c.Args, isDynamic) && t.looksUp(command)
	case "pgrep", "pidof":
		// What it finds may be killed by a command elsewhere in the text.
		hit = t.finds(u.name, c.Args) && killing.MatchString(command)
	case "killall":
		hit = t.killsAll(c.Args) || slices.ContainsFunc(c.Args, isDynamic) && t.looksUp(command)
	case "killall5", "taskkill":
		hit = u.name == "killall5" || slices.ContainsFunc(c.Args, t.isOurName)
	case "systemctl", "service", "rc-service", "launchctl", "sc":
		hit = slices.ContainsFunc(c.Args, t.isOurUnit) && slices.ContainsFunc(c.Args, func(w policy.Word) bool {
			switch w.Text {
			case "stop", "kill", "restart", "reload", "disable", "mask", "try-restart", "edit", "revert", "unload", "bootout":
				return true
			}
			return false
		})
	}
	if u.kind == interpreter && !hit {
		hit = slices.ContainsFunc(c.Args, func(w policy.Word) bool {
			return strings.Contains(w.Text, "getppid") && strings.Contains(w.Text, "kill")
		})
	}
	if hit {
		t.deny(RuleOwnProcess, "guard.own_process")
	}
}

var (
	killing = regexp.MustCompile(`\bkill\b`)
	// parental is how a text comes to the number of its parent, which we are.
	parental = regexp.MustCompile(`(?i)ppid|/proc/[^/]*/(task/[^/]*/)?stat`)
)

// looksUp reports whether the text may come to know our number: it names our program, not as a directory, or asks for
// a parent.
func (t *text) looksUp(command string) bool {
	if parental.MatchString(command) {
		return true
	}
	lower := strings.ToLower(command)
	for _, name := range t.binaries() {
		for rest := lower; ; {
			_, after, found := strings.Cut(rest, strings.ToLower(name))
			if !found {
				break
			}
			if !strings.HasPrefix(after, "/") {
				return true
			}
			rest = after
		}
	}
	return false
}

// finds reports whether pgrep or pidof may print our number.
func (t *text) finds(program string, args []policy.Word) bool {
	if program == "pgrep" {
		return t.pkills(args)
	}
	return slices.ContainsFunc(args, t.isOurName)
}

// isOurPID also matches our group, and the parent of the command's shell, which we are.
func (t *text) isOurPID(w policy.Word) bool {
	if !w.Static {
		return strings.Contains(w.Text, "PPID")
	}
	n, err := strconv.Atoi(strings.TrimSpace(w.Text))
	return err == nil && strconv.Itoa(max(n, -n)) == t.pid()
}

func (t *text) isOurName(w policy.Word) bool {
	name := programName(w.Text)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".service"), ".exe")
	return w.Static && slices.Contains(t.binaries(), name)
}

// isOurUnit also matches patterns, which systemctl takes.
func (t *text) isOurUnit(w policy.Word) bool {
	if t.isOurName(w) || !w.Static || !strings.ContainsAny(w.Text, "*?[") {
		return t.isOurName(w)
	}
	return slices.ContainsFunc(t.binaries(), func(name string) bool {
		return paths.MatchName(w.Text, name) || paths.MatchName(w.Text, name+".service")
	})
}

// pkills reports whether a pattern of pkill matches our name or, where it looks there, our command line. Without a
// pattern it selects by user, group or terminal, which may be ours.
func (t *text) pkills(args []policy.Word) bool {
	names := t.binaries()
	if slices.ContainsFunc(args, func(w policy.Word) bool {
		return w.Text == "--full" || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "f")
	}) {
		names = append(slices.Clip(names), t.line())
	}
	pattern := false
	for i, w := range args {
		if strings.HasPrefix(w.Text, "-") {
			continue
		}
		if i > 0 && takesValue(args[i-1].Text) {
			continue
		}
		pattern = true
		if w.Static && matchesAny(w.Text, names) {
			return true
		}
	}
	return !pattern && !slices.ContainsFunc(args, func(w policy.Word) bool { return strings.HasPrefix(w.Text, "-P") })
}

// line is how this process was started.
func (t *text) line() string {
	if t.floor.Line != "" {
		return t.floor.Line
	}
	return strings.Join(os.Args, " ")
}

// matchesAny matches without regard to case. What is no pattern here may be one there, but then not one for a name.
func matchesAny(pattern string, names []string) bool {
	re, err := regexp.Compile("(?i)" + pattern)
	return err == nil && slices.ContainsFunc(names, re.MatchString)
}

func takesValue(option string) bool {
	switch option {
	case "-u", "-U", "-g", "-G", "-P", "-s", "-t", "-F", "--euid", "--uid", "--group", "--pgroup", "--parent", "--session",
		"--terminal", "--pidfile", "--signal":
		return true
	}
	return false
}

// killsAll reports whether killall means us: by name, by a pattern, or by naming nobody, which is everybody of a user.
func (t *text) killsAll(args []policy.Word) bool {
	patterns := slices.ContainsFunc(args, func(w policy.Word) bool {
		return w.Text == "--regexp" || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") &&
			strings.ContainsAny(w.Text, "rm") && strings.ToUpper(w.Text) != w.Text
	})
	named := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch w.Text {
		case "-l", "--list", "-V", "--version", "--help":
			return false
		case "-s", "-u", "-o", "-y", "-n", "-Z", "-t", "--signal", "--user", "--older-than", "--younger-than", "--ns", "--context":
			i++
			continue
		}
		if strings.HasPrefix(w.Text, "-") {
			continue
		}
		named = true
		if t.isOurName(w) || patterns && w.Static && matchesAny(w.Text, t.binaries()) {
			return true
		}
	}
	return !named && len(args) > 0
}

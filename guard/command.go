package guard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/maishell/maishell/guard/paths"
	"github.com/maishell/maishell/policy"
)

// The rules that decisions about a command's text name.
const (
	RuleParse       = "parse"
	RuleOwnCommands = "own_commands"
	RuleOwnProcess  = "own_process"
)

// CommandFloor is the part of the floor that reads a command's text: what cannot be parsed is denied, and so is what
// would write an own file, signal this process or give it orders through its own command line. Reading an own file
// asks a person.
//
// It sees what the text shows. Names that only exist when the command runs (variables, output of commands, lists of
// files inside files and archives) are judged as far as a pattern can be made of them, and by what else the text shows:
// an own file named anywhere in it beside a command that writes to such a name is denied; a list of files that another
// command makes is asked about where an own file is near. What a variable copies into a directory (cp "$f" .) is not
// judged. For a process of the same user this is best effort; only another account or a sandbox makes it hold.
type CommandFloor struct {
	Own *OwnFiles
	// Dialect says how a shell is parsed; nil: by its name.
	Dialect func(shell string) policy.Dialect
	// Binary are the names under which this program is started, without directory and .exe; empty: "maishell".
	Binary []string
	// Home is what ~ and $HOME stand for in a command; empty: os.UserHomeDir().
	Home string
	// Line is the command line of this process, with spaces; empty: os.Args.
	Line string
	// PID is this process; 0: os.Getpid().
	PID int
}

// Name is what records call it.
func (f *CommandFloor) Name() string { return "command_floor" }

// Decide judges the action's command text.
func (f *CommandFloor) Decide(ctx context.Context, a Action) (Decision, error) {
	if a.Command == "" {
		return Decision{Verdict: Allow}, nil
	}
	t := f.text(ctx, &a)
	if !POSIXShell(a.Shell) {
		all := a.Command
		for _, more := range append([]string{a.Input}, a.Env...) {
			if more != "" {
				all += "\n" + more
			}
		}
		return t.scan(all), nil
	}
	dialect := policy.ShellDialect
	if f.Dialect != nil {
		dialect = f.Dialect
	}
	analysis, err := policy.Parse(a.Command, dialect(a.Shell))
	if err != nil {
		return unparsable(err)
	}
	whole := policy.Whole(a.Command, a.Env, a.Input)
	if whole != a.Command {
		if analysis, err = policy.Parse(whole, dialect(a.Shell)); err != nil {
			return unparsable(err)
		}
	}
	return t.judge(whole, analysis), ctx.Err()
}

// unparsable is the decision for text that the shell would reject, or that is not even read: as if the shell had said
// so itself.
func unparsable(err error) (Decision, error) {
	var worded interface{ TextID() (string, []any) }
	if !errors.As(err, &worded) {
		return Decision{}, err
	}
	code := 2
	d := Decision{Verdict: Deny, Rule: RuleParse, Stderr: err.Error(), ExitCode: &code}
	d.Reason, d.Args = worded.TextID()
	return d, nil
}

// POSIXShell reports whether the shell reads what policy can parse.
func POSIXShell(shell string) bool {
	switch strings.TrimSuffix(programName(shell), ".exe") {
	case "cmd", "powershell", "pwsh":
		return false
	}
	return true
}

// programName is the last element of a program's path, in lower case.
func programName(program string) string {
	return strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
}

// text is one command text under judgement.
type text struct {
	floor *CommandFloor
	v     *view
	cwd   string
	ctx   context.Context
	inOwn bool // cwd is inside an own directory
	lost  bool // the text goes somewhere that cannot be seen
	// homes are what ~ may stand for; homeLost: something else too.
	homes    []string
	homeLost bool
	bases    []string // directories that a relative path may start from: cwd and wherever the text goes
	found    Decision // the strictest so far
}

func (f *CommandFloor) text(ctx context.Context, a *Action) *text {
	cwd := paths.Absolute(a.Cwd, "")
	home := f.Home
	if home == "" {
		home, _ = os.UserHomeDir() // none: then ~ stands for itself
	}
	t := &text{
		ctx: ctx, floor: f, v: f.Own.view(true, cwd), cwd: cwd, bases: []string{cwd}, found: Decision{Verdict: Allow},
	}
	if home != "" {
		t.homes = []string{home}
	}
	at := t.v.w.Follow(cwd, true)
	t.inOwn = t.v.inside(&at)
	return t
}

func (t *text) find(d Decision) { t.found = stricter(t.found, d) }

func (t *text) deny(rule, reason string, args ...any) {
	t.find(Decision{Verdict: Deny, Rule: rule, Reason: reason, Args: args})
}

func (t *text) confirm(reason string, args ...any) {
	t.find(Decision{Verdict: Confirm, Rule: RuleOwnFiles, Reason: reason, Args: args})
}

// spent reports that the text has been judged for long enough; then it is denied as a whole.
func (t *text) spent() bool {
	d, over := t.v.over(t.ctx)
	if over {
		t.found = d
	}
	return over
}

// judge looks at every command of a parsed text.
func (t *text) judge(command string, a *policy.Analysis) Decision {
	if t.inOwn {
		t.confirm("guard.own_cwd", t.cwd)
	}
	t.changes(command, a.Commands)
	n := unseen{taken: takes(a)}
	inner := byWrapper(a.Commands)
	for i := range a.Commands {
		if t.spent() {
			return t.found
		}
		c := &a.Commands[i]
		u := newUse(c, inner)
		t.redirects(c, u)
		t.starts(c)
		t.signals(c, u, command)
		t.words(u)
		n.note(t, c, u)
		if t.found.Verdict == Deny {
			return t.found
		}
	}
	t.together(command, a, &n)
	t.spent()
	return t.found
}

// changes notes where the text goes: with cd, and with options such as -C, for which every directory counts that an own
// file is directly in. It also notes what the text makes of ~.
func (t *text) changes(command string, commands []policy.Command) {
	t.homeLost = strings.Contains(command, "for HOME") || strings.Contains(command, "{HOME:=") || strings.Contains(command, "{HOME=")
	for i := range commands {
		t.assigns(&commands[i])
	}
	for _, c := range commands {
		name := programName(c.Program.Text)
		moves := name == "cd" || name == "pushd" || name == "chdir"
		if !moves && kindOf(name) == speaker {
			continue
		}
		if moves && len(c.Args) == 0 {
			t.lost = t.lost || t.homeLost
			for _, home := range t.homes {
				t.goes(home)
			}
		}
		for _, w := range c.Args {
			if t.v.w.Exhausted() {
				return
			}
			t.lost = t.lost || moves && (!w.Static || w.Text == "-")
			for _, p := range t.paths(w) {
				if !p.pattern && !p.tail && (moves || !t.absent(p.text) && t.v.relate(p.text) == holds) {
					t.goes(p.text)
				}
			}
		}
	}
}

// assigns notes new values of HOME and CDPATH, by an assignment or by a command that is given the name.
func (t *text) assigns(c *policy.Command) {
	for _, as := range c.Assigns {
		t.assign(as.Name, as.Value)
	}
	if c.Program.Text == "" || kindOf(programName(c.Program.Text)) == reader {
		return
	}
	for _, w := range c.Args {
		if name, value, ok := strings.Cut(w.Text, "="); ok || w.Text == "HOME" || w.Text == "CDPATH" {
			t.assign(name, policy.Word{Text: value, Static: w.Static && ok})
		}
	}
}

func (t *text) assign(name string, value policy.Word) {
	switch name {
	case "CDPATH":
		t.lost = true
	case "HOME":
		if value.Static && value.Text != "" && len(t.homes) < maxPlaces {
			t.homes = append(slices.Clip(t.homes), value.Text)
		} else {
			t.homeLost = true
		}
	}
}

// maxPlaces bounds the directories that a text may be in, and the values of ~. Beyond, all that counts is names.
const maxPlaces = 8

func (t *text) goes(dir string) {
	if slices.Contains(t.bases, dir) {
		return
	}
	if len(t.bases) == maxPlaces {
		t.lost = true
		return
	}
	t.bases = append(t.bases, dir)
}

// redirects judges what the shell itself opens.
func (t *text) redirects(c *policy.Command, u *use) {
	for _, r := range c.Redirects {
		if name, ok := t.mentioned(r.Body.Text); ok && u.kind == interpreter {
			t.mentions(u, name)
		}
		if !r.Writes && !r.Reads {
			continue
		}
		for _, path := range t.paths(r.Target) {
			ours := !path.tail && t.process(path.text) && (!path.guess || r.Writes || t.handle(path.text))
			switch {
			case t.relate(path) != own && !ours:
			case path.tail:
				t.confirm("guard.own_mention", r.Target.Text)
			case r.Writes:
				t.deny(RuleOwnFiles, "guard.own_write", r.Target.Text)
			default:
				t.confirm("guard.own_read", r.Target.Text)
			}
		}
	}
}

// process reports a path into what the kernel shows of this process, or to what stops every process of a group.
func (t *text) process(path string) bool {
	p := t.v.w.Follow(path, false)
	if paths.Within("/sys/fs/cgroup", p.Path) {
		base := filepath.Base(p.Path)
		return base == "cgroup.kill" || base == "cgroup.freeze"
	}
	return paths.Within("/proc/"+t.pid(), p.Path)
}

// handle reports a path to what this process has open, or to its memory.
func (t *text) handle(path string) bool {
	rest, ok := below(t.v.w.Follow(path, false).Path, "/proc/"+t.pid())
	if ok && len(rest) > 2 && rest[0] == "task" {
		rest = rest[2:]
	}
	return ok && (len(rest) > 1 && (rest[0] == "fd" || rest[0] == "map_files") || len(rest) == 1 && rest[0] == "mem")
}

func (t *text) pid() string {
	if t.floor.PID != 0 {
		return strconv.Itoa(t.floor.PID)
	}
	return strconv.Itoa(os.Getpid())
}

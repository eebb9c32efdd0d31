package policy

import (
	"regexp"
	"strings"

	"github.com/maishell/maishell/policy/programs"
)

// builtin looks at shell builtins that run text, or evaluate names.
func (r *reader) builtin(c Command, name string) {
	switch name {
	case ".", "source":
		r.opaque("policy.opaque_source")
	case "alias":
		if len(c.Args) > 0 {
			r.opaque("policy.opaque_alias")
		}
	case "trap":
		r.trap(c)
	case "hash", "enable", "mapfile", "readarray", "compgen", "complete", "jobs", "fc", "bind":
		r.builtinOption(c, name)
	}
	switch name {
	case "test", "[", "read", "unset", "mapfile", "readarray", "getopts", "wait", "printf", "declare", "typeset", "local",
		"readonly", "let":
		r.names(c, name)
	}
}

// trap reads the text that a signal or the end of the shell will run.
func (r *reader) trap(c Command) {
	args := c.Args
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) < 2 || args[0].plain() && (args[0].Text == "-" || args[0].Text == "-l" || args[0].Text == "-p") {
		return
	}
	r.innerTextOf(args[:1], r.d, via(c, "trap"))
}

// builtinOption: these run or load something with one of their options.
func (r *reader) builtinOption(c Command, name string) {
	options := map[string]string{
		"hash": "p", "enable": "f", "mapfile": "C", "readarray": "C", "compgen": "CWF", "complete": "CWF", "jobs": "x",
		"fc": "se", "bind": "xf",
	}[name]
	for _, w := range c.Args {
		if !w.Static && couldStartDash(w) || strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, options) {
			r.opaque("policy.opaque_eval_data")
		}
	}
}

// names looks at operands that the shell takes as variable names: a subscript in one is evaluated, and runs what it
// holds.
func (r *reader) names(c Command, name string) {
	if name == "printf" {
		if len(c.Args) == 0 || c.Args[0].Static && !strings.HasPrefix(c.Args[0].Text, "-v") {
			return
		}
	}
	isTest := name == "test" || name == "["
	for i, w := range c.Args {
		if !w.Static && name == "read" && i > 0 && isReadValue(c.Args[i-1].Text) {
			continue
		}
		dynamicName := !w.Static && !isTest && !hasNamePrefix(w.Text)
		afterV := isTest && i > 0 && (!w.Static && c.Args[i-1].Text == "-v")
		hidden := w.Static && strings.Contains(w.Text, "[") && strings.ContainsAny(w.Text, "$`")
		if dynamicName || afterV || hidden {
			r.opaque("policy.opaque_eval_data")
		}
		if (name == "declare" || name == "typeset" || name == "local") && strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "in") {
			r.opaque("policy.opaque_eval_data")
		}
	}
	if name == "printf" && len(c.Args) > 1 && !c.Args[0].Static {
		r.opaque("policy.opaque_eval_data")
	}
}

func isReadValue(opt string) bool {
	return len(opt) >= 2 && opt[0] == '-' && strings.ContainsRune("dinNptu", rune(opt[len(opt)-1]))
}

// hasNamePrefix reports name=... : what follows is a value.
func hasNamePrefix(text string) bool {
	name, _, ok := strings.Cut(strings.TrimLeft(text, `"`), "=")
	return ok && name != "" && strings.Trim(strings.TrimSuffix(name, "+"), "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// hidden makes the analysis opaque for programs that run other programs in ways that are not read: code in an
// argument or on stdin, options that name a command.
func (r *reader) hidden(c Command, name string) {
	switch {
	case programs.Interpreter(name):
		if !readsScript(c.Args) {
			r.opaque("policy.opaque_code")
		}
	case name == "awk" || name == "gawk" || name == "mawk" || name == "nawk":
		for _, w := range scripts(c.Args, "Fvfi") {
			if !w.plain() || awkRuns.MatchString(awkQuiet.ReplaceAllString(w.Text, "")) {
				r.opaque("policy.opaque_code")
			}
		}
	case name == "sed" || name == "gsed":
		for _, w := range scripts(c.Args, "fl") {
			if !w.plain() || sedRuns.MatchString(w.Text) {
				r.opaque("policy.opaque_code")
			}
		}
	case programs.RunsCommands(name):
		r.opaque("policy.opaque_runner")
	default:
		r.runOptions(c, programs.RunOptions(name))
	}
}

// scripts finds what may be program text in the arguments of awk and sed: the values of -e wherever they stand, and the
// first operand. values lists the other short options with a value.
func scripts(args []Word, values string) (found []Word) {
	operand := false
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		if !w.plain() || len(w.Text) < 2 || w.Text[0] != '-' || w.Text == "--" {
			if !operand && w.Text != "--" {
				found = append(found, w)
			}
			operand = operand || w.plain() && w.Text != "--"
			continue
		}
		name, value, next := scriptOption(w.Text, values)
		word := Word{Text: value, Static: true}
		if next && len(args) > 0 {
			word, args = args[0], args[1:]
		}
		switch name {
		case 'e':
			found = append(found, word)
		case 'f':
			operand = true // the program is in a file
		}
	}
	return found
}

// scriptOption reads -nes/a/b/, --expression=...; next tells that the value is the next word.
func scriptOption(text, values string) (name byte, value string, next bool) {
	if long, ok := strings.CutPrefix(text, "--"); ok {
		long, value, ok = strings.Cut(long, "=")
		switch {
		case strings.HasPrefix("expression", long), strings.HasPrefix("source", long):
			return 'e', value, !ok
		case strings.HasPrefix("file", long):
			return 'f', value, !ok
		}
		return 0, "", false
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'e' || strings.IndexByte(values, c) >= 0:
			return c, text[i+1:], i+1 == len(text)
		case c == 'i':
			return 0, "", false // sed's suffix of the backup
		}
	}
	return 0, "", false
}

var (
	awkQuiet = regexp.MustCompile(`\|\||\|]|/(\\.|[^/\\\n])*/`)
	awkRuns  = regexp.MustCompile(`system|getline|\||@(load|include)`)
	sedRuns  = regexp.MustCompile(`(^|[;{}\n])\s*([0-9$,~+!]*|/[^/]*/)\s*e(\s|$)|[^\w\s][0-9gpImM]*e[0-9gpImMw]*\s*($|[;}\n])`)
)

// readsScript reports arguments that name a script file or module, or only ask for the version.
func readsScript(args []Word) bool {
	if len(args) == 0 || !args[0].plain() || args[0].Many {
		return false
	}
	switch first := args[0].Text; first {
	case "--version", "-V", "--help", "-h":
		return len(args) == 1
	case "-v":
		return len(args) == 1
	case "-m":
		return len(args) > 1
	default:
		return !strings.HasPrefix(first, "-") && !strings.HasPrefix(first, "/dev/") && !strings.HasPrefix(first, "/proc/") && first != "eval"
	}
}

// sshOptions: ProxyCommand, LocalCommand, KnownHostsCommand ... run on this host.
func (r *reader) sshOptions(c Command, name string) {
	if name != "ssh" && name != "scp" && name != "sftp" {
		return
	}
	for _, w := range c.Args {
		if w.Many && couldStartDash(w) || strings.Contains(strings.ToLower(w.Text), "command") {
			r.opaque("policy.opaque_option")
		}
	}
}

// runOptions finds these options in clusters, with values attached, and abbreviated.
func (r *reader) runOptions(c Command, options string) {
	if options == "" {
		return
	}
	for _, w := range c.Args {
		if w.plain() && w.Text == "--" {
			return
		}
		if w.Many && couldStartDash(w) {
			r.opaque("policy.opaque_option")
			continue
		}
		name, _, _ := strings.Cut(w.Text, "=")
		for _, opt := range strings.Fields(options) {
			switch {
			case name == opt,
				strings.HasPrefix(opt, "--") && len(name) > 3 && strings.HasPrefix(opt, name),
				len(opt) == 2 && len(name) > 2 && name[0] == '-' && name[1] != '-' && strings.Contains(name, opt[1:]):
				r.opaque("policy.opaque_runner")
			}
		}
	}
}

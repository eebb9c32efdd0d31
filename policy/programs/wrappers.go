package programs

// Grammar is how a wrapper's command line goes on until the command that it runs. Everything it does not list makes
// the analysis opaque.
type Grammar struct {
	Flags      string // short options without a value
	Values     string // short options with a value, attached or next
	Optional   string // short options with an optional attached value
	Long       string // long options without a value, or with =value only; space separated
	LongValues string // long options with a value, attached or next
	Operands   int    // words before the command
	Assigns    bool   // NAME=VALUE may stand before the command
	Queries    string // short options that make it run nothing
	Text       bool   // the words are joined with spaces and read by a shell
	Stdin      bool   // adds words of its own from stdin
	Alone      bool   // without a command it starts a shell
}

// Wrapper returns the grammar of a program that runs the command in its arguments.
func Wrapper(name string) (Grammar, bool) {
	switch name {
	case "env":
		return Grammar{Flags: "i0v", Values: "uCa", Long: "ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling", LongValues: "unset chdir argv0", Assigns: true}, true
	case "nice":
		return Grammar{Flags: "0123456789", Values: "n", LongValues: "adjustment"}, true
	case "nohup", "builtin", "noglob", "nocorrect", "coproc", "toybox", "busybox", "unbuffer", "fakeroot", "setarch", "linux64":
		return Grammar{}, true
	case "timeout", "gtimeout":
		return Grammar{Flags: "fpv", Values: "ks", Long: "foreground preserve-status verbose", LongValues: "kill-after signal", Operands: 1}, true
	case "setsid":
		return Grammar{Flags: "cfw", Long: "ctty fork wait"}, true
	case "stdbuf":
		return Grammar{Values: "ioe", LongValues: "input output error"}, true
	case "ionice":
		return Grammar{Flags: "t", Values: "cn", Long: "ignore", LongValues: "class classdata"}, true
	case "chrt":
		return Grammar{Flags: "abdfiorRv", Values: "TPD", Operands: 1}, true
	case "taskset":
		return Grammar{Flags: "ac", Long: "all-tasks cpu-list", Operands: 1}, true
	case "sudo":
		return Grammar{Flags: "ABbEHiknNPSs", Values: "CDghpRrTtUu", Queries: "lvKV", Long: "askpass background bell preserve-env set-home login reset-timestamp non-interactive preserve-groups stdin shell", LongValues: "close-from chdir group host prompt chroot role command-timeout type other-user user", Assigns: true, Alone: true}, true
	case "doas":
		return Grammar{Flags: "ns", Values: "au", Queries: "LC", Alone: true}, true
	case "command":
		return Grammar{Flags: "p", Queries: "vV"}, true
	case "exec":
		return Grammar{Flags: "cl", Values: "a"}, true
	case "time", "gtime":
		return Grammar{Flags: "apqv", Values: "fo", Long: "append portability quiet verbose", LongValues: "format output", Queries: "V"}, true
	case "xargs", "gxargs":
		return Grammar{Flags: "0oprtx", Values: "adEILnPsJRS", Optional: "eil", Long: "null eof replace max-lines interactive no-run-if-empty verbose exit open-tty show-limits", LongValues: "arg-file delimiter max-args max-procs max-chars process-slot-var", Stdin: true}, true
	case "flock":
		return Grammar{Flags: "sexnuoFv", Values: "wE", Long: "shared exclusive unlock nonblock close no-fork verbose", LongValues: "timeout conflict-exit-code", Operands: 1}, true
	case "chroot":
		return Grammar{LongValues: "groups userspec", Long: "skip-chdir", Operands: 1, Alone: true}, true
	case "watch":
		return Grammar{Flags: "bcCdegtwx", Values: "nq", Long: "beep color no-color differences errexit chgexit no-title no-wrap exec", LongValues: "interval equexit", Text: true}, true
	case "ssh", "slogin":
		return Grammar{Flags: "46AaCfGgKkMNnqsTtVvXxYy", Values: "BbcDeFIiJLlmOopQRSWwP", Operands: 1, Text: true, Alone: true}, true
	}
	return Grammar{}, false
}

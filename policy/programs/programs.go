package programs

import "strings"

// Hijacks reports variables that make a shell, the loader or a common program run something.
func Hijacks(name string) bool {
	switch name {
	case "ENV", "PS4", "VISUAL", "GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_ASKPASS", "GIT_DIR", "SSH_ASKPASS", "PERL5OPT",
		"RUBYOPT", "PYTHONSTARTUP", "PROMPT_COMMAND", "LESSOPEN", "LESSCLOSE", "SHELLOPTS", "BASHOPTS":
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_ENV", "BASH_FUNC_", "GIT_CONFIG"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{"PAGER", "EDITOR", "_COMMAND", "_OPTIONS", "BROWSER"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// Interpreter reports a program that runs code in an argument or on stdin; it knows python3.12 as well as python.
func Interpreter(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "Rscript", "tclsh", "wish", "expect",
		"osascript", "pwsh", "powershell", "deno", "bun", "irb", "guile", "racket", "ghci", "groovy", "jshell":
		return true
	}
	return false
}

// RunsCommands lists programs whose arguments or input are commands in a grammar that is not read.
func RunsCommands(name string) bool {
	switch name {
	case "parallel", "unshare", "nsenter", "strace", "ltrace", "gdb", "systemd-run", "start-stop-daemon", "pkexec",
		"firejail", "bwrap", "proot", "entr", "at", "batch", "dbus-run-session", "xvfb-run", "setpriv", "run-parts",
		"gosu", "su-exec", "chpst", "numactl", "prlimit", "cgexec", "catchsegv", "tini", "dumb-init", "torsocks",
		"proxychains", "proxychains4", "caffeinate", "sg", "newgrp", "chronic", "ts-node", "npx", "pipx", "uvx", "screen",
		"tmux", "socat", "wsl", "wsl.exe", "cmd", "cmd.exe", "setuidgid", "envdir", "softlimit", "valgrind", "perf", "hyperfine":
		return true
	}
	return false
}

// RunOptions lists the options of otherwise plain programs that name a command to run.
func RunOptions(name string) string {
	switch name {
	case "fd", "fdfind":
		return "-x -X --exec --exec-batch"
	case "rg":
		return "--pre --hostname-bin"
	case "tar", "gtar", "bsdtar":
		return "-I -F --checkpoint-action --to-command --use-compress-program --rsh-command --info-script --new-volume-script"
	case "sort", "gsort":
		return "--compress-program"
	case "git":
		return "-c -O --config-env --exec-path --upload-pack --receive-pack --exec --open-files-in-pager"
	case "rsync":
		return "-e --rsh --rsync-path"
	case "man":
		return "-P -H --pager --html"
	case "vi", "vim", "view", "nvim", "ex", "emacs":
		return "-c -S -e --cmd --eval --execute"
	case "go":
		return "-exec -toolexec -vettool"
	case "nc", "ncat", "netcat":
		return "-e -c --exec --sh-exec"
	case "zip":
		return "-TT --unzip-command"
	case "split", "gsplit":
		return "--filter"
	case "scp", "sftp":
		return "-S -D"
	}
	return ""
}

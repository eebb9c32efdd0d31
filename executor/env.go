package executor

import (
	"os"
	"strings"
)

// What a command finds in its environment, and all of it:
//
//  1. the host's variables that allowedEnv names (env_unix.go, env_windows.go): who and where the user is, the locale,
//     where temporary and personal files go. Nothing that can carry a secret (tokens, proxies with a password, agent
//     sockets) and nothing that makes a shell or loader run other code (ENV, BASH_ENV, LD_*, PROMPT_COMMAND, functions);
//  2. settings that keep programs from waiting for a person or decorating their output (quietEnv), and a default PATH
//     if the host has none;
//  3. the variables of the request;
//  4. PWD, and the marks by which a run is recognised: MAISHELL=1 and MAISHELL_RUN_ID.
//
// Later entries replace earlier ones; a name appears once.
const (
	envMark  = "MAISHELL"
	envRunID = "MAISHELL_RUN_ID"
	envPwd   = "PWD"
)

// quietEnv returns what keeps programs non-interactive.
func quietEnv() []string {
	return []string{
		"TERM=dumb",
		"NO_COLOR=1",
		"PAGER=cat",
		"GIT_PAGER=cat",
		"SYSTEMD_PAGER=",
		"GIT_TERMINAL_PROMPT=0",
		"DEBIAN_FRONTEND=noninteractive",
	}
}

// envName returns the part before the "="; a leading "=" belongs to the name (Windows keeps "=C:=C:\dir" entries).
func envName(kv string) string {
	if i := strings.IndexByte(kv, '='); i > 0 {
		return kv[:i]
	}
	return ""
}

// allowlisted returns the entries of host that may be seen by others, each name once.
func allowlisted(host []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, kv := range host {
		if name := envName(kv); name != "" && allowedEnv(name) && !seen[envKey(name)] {
			seen[envKey(name)] = true
			kept = append(kept, kv)
		}
	}
	return kept
}

// baseEnv returns parts 1 and 2 of a command's environment.
func baseEnv(host []string) []string {
	base := overlay(allowlisted(host), append(quietEnv(), envMark+"=1"))
	if defaultPath != "" && lookup(base, "PATH") == "" {
		base = overlay(base, []string{"PATH=" + defaultPath})
	}
	return base
}

// runEnv returns the environment of one command. base is not modified.
func runEnv(base, extra []string, dir, runID string) []string {
	if len(extra) > 0 {
		own := extra[:0:0]
		for _, kv := range extra {
			if key := envKey(envName(kv)); key != envMark && key != envRunID && key != envPwd {
				own = append(own, kv)
			}
		}
		base = overlay(base, own)
	}
	env := make([]string, 0, len(base)+2)
	env = append(env, base...)
	return append(env, envPwd+"="+dir, envRunID+"="+runID)
}

// overlay returns base with the entries of top added or put in the place of entries of the same name.
func overlay(base, top []string) []string {
	last := make(map[string]int, len(top))
	for i, kv := range top {
		last[envKey(envName(kv))] = i
	}
	out := make([]string, 0, len(base)+len(top))
	for _, kv := range base {
		if _, replaced := last[envKey(envName(kv))]; !replaced {
			out = append(out, kv)
		}
	}
	for i, kv := range top {
		if last[envKey(envName(kv))] == i {
			out = append(out, kv)
		}
	}
	return out
}

// EnvKey is equal for two names of the same variable on this system.
func EnvKey(name string) string { return envKey(name) }

// lookup returns the value of name, empty if it is not there.
func lookup(env []string, name string) string {
	for _, kv := range env {
		if envKey(envName(kv)) == envKey(name) {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// TakeEnv returns the environment that the process was started with, and leaves only allowlisted variables behind: in
// os.Environ, and in what other processes of the same user can read of us (/proc/PID/environ, ps), because a command
// could otherwise read our secrets there. Call it before anything else in main, while no other goroutine runs. Where
// the readable block cannot be overwritten in place the program is executed once more, with the same process id.
func TakeEnv() []string {
	full := handedOver()
	again := full != nil
	if !again {
		full = os.Environ()
	}
	for _, kv := range os.Environ() {
		if name := envName(kv); name != "" && !allowedEnv(name) {
			_ = os.Unsetenv(name) // fails only for names that cannot occur
		}
	}
	if !again {
		scrubEnv(full, os.Environ())
	}
	return full
}

package executor

import "strings"

// InsideRun reports whether this process was started, directly or through others, by a command that an Executor runs:
// the mark is in its environment env (as TakeEnv returned it), or the system shows that it descends from a run, also
// where it cleared its environment. It is best effort: a process that hides from both is not recognised.
func InsideRun(env []string) bool {
	for _, kv := range env {
		if strings.HasPrefix(kv, envRunID+"=") {
			return true
		}
	}
	return descendsFromRun()
}

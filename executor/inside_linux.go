package executor

import (
	"os"
	"regexp"
	"strconv"
)

// maxAncestors bounds the way up to process 1.
const maxAncestors = 64

// descendsFromRun looks for the cgroup of a run around us, which a process cannot leave by forking, and for the mark in the
// environment of our ancestors.
func descendsFromRun() bool {
	if own, err := os.ReadFile("/proc/self/cgroup"); err == nil && inRunGroup(string(own)) {
		return true
	}
	pid := os.Getppid()
	for range maxAncestors {
		if pid <= 1 {
			return false
		}
		if environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ"); err == nil {
			if _, marked := markIn(environ); marked {
				return true
			}
		}
		s, ok := readStat(pid)
		if !ok {
			return false
		}
		pid = s.parent
	}
	return false
}

// inRunGroup says whether the text of a /proc/PID/cgroup names the directory of a run, see cgroups.
func inRunGroup(text string) bool {
	return regexp.MustCompile(`(?m)^0::.*/` + groupPrefix + `[0-9]+-[0-9]+/[0-9]+(/.*)?$`).MatchString(text)
}

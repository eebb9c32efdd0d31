package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// processStart identifies the process with that pid among all that ever had or will have the number: the boot, and
// the clock tick since then at which it started. It is empty when there is no such process or it has ended and only
// waits to be reaped.
func processStart(pid int) (string, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	// The second field is the program's name in parentheses and may hold anything.
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	const state, startTime = 0, 19 // fields 3 and 22 of proc(5)
	if end < 0 || len(fields) <= startTime {
		return "", errors.New("cannot read /proc/PID/stat")
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return "", nil
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + ":" + fields[startTime], nil
}

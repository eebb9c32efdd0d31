package executor

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// What this process was started with, and must not hand on to commands.

// closeOnExec marks the descriptors above 2 that somebody left open for us.
func closeOnExec() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// unignore makes the runtime handle the signals that we were started with ignored: what is handled is reset in a
// child, what is ignored is inherited. They go on having no effect on us. The result is nil if there are none.
func unignore() chan os.Signal {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(status), "\nSigIgn:")
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	if err != nil || mask == 0 {
		return nil
	}
	var signals []os.Signal
	for n := range 64 {
		if mask&(1<<n) != 0 {
			signals = append(signals, syscall.Signal(n+1))
		}
	}
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, signals...)
	return unread
}

// blockedSignals reports whether this process was started with signals blocked.
func blockedSignals() bool {
	var mask unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, nil, &mask); err != nil {
		return false
	}
	return mask != unix.Sigset_t{}
}

// havePidfds reports whether the kernel gives out pidfds and lets us wait for them.
func havePidfds() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	defer closeAll(fd)
	return errors.Is(unix.Waitid(unix.P_PIDFD, fd, nil, unix.WEXITED, nil), unix.ECHILD)
}

// ticksPerSecond is USER_HZ, the unit of times in /proc; the same on every Linux that Go runs on.
const ticksPerSecond = 100

// bootTicks returns the present time in the unit and origin of a process's start time in /proc.
func bootTicks() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return uint64(now.Nano()) / (1e9 / ticksPerSecond)
}

// procStat is what we need of /proc/PID/stat.
type procStat struct {
	pid, parent, session int
	zombie               bool
	start                uint64 // ticks since boot
}

// readStat reads the state of a process; false: there is none.
func readStat(pid int) (procStat, bool) {
	b := readProcFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if len(b) == 0 {
		return procStat{}, false
	}
	// The second field is a name in parentheses which may itself hold spaces and parentheses.
	text := string(b)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 20 {
		return procStat{}, false
	}
	s := procStat{pid: pid, zombie: f[0] == "Z" || f[0] == "X"}
	s.parent, _ = strconv.Atoi(f[1]) // the kernel writes numbers
	s.session, _ = strconv.Atoi(f[3])
	s.start, _ = strconv.ParseUint(f[19], 10, 64)
	return s, true
}

// readProcFile reads a file in /proc, with half the system calls of os.ReadFile: many are read in a row. It returns
// nothing when the process is gone.
func readProcFile(path string) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer closeAll(fd)
	return readAll(fd)
}

// procPage is what the kernel gives of such a file in one piece. Between two pieces it may change.
const procPage = 4096

// readAll reads an open file in /proc from its start.
func readAll(fd int) []byte {
	text := make([]byte, 0, procPage)
	for {
		n, err := unix.Pread(fd, text[len(text):cap(text)], int64(len(text)))
		if n <= 0 || err != nil {
			return text
		}
		text = slices.Grow(text[:len(text)+n], 1)
	}
}

// pidList parses the numbers of a children file.
func pidList(text []byte) []int {
	var pids []int
	for field := range bytes.FieldsSeq(text) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// childrenOf returns the children of a process, by way of its threads.
func childrenOf(pid int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil // it is gone
	}
	var pids []int
	for _, thread := range threads {
		pids = append(pids, pidList(readProcFile(tasks+"/"+thread.Name()+"/children"))...)
	}
	return pids
}

// readProcs reads the state of all processes.
func readProcs() map[int]procStat {
	procs := map[int]procStat{}
	dir, err := os.Open("/proc")
	if err != nil {
		return procs
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1) // a part is better than nothing
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if s, ok := readStat(pid); ok {
				procs[pid] = s
			}
		}
	}
	return procs
}

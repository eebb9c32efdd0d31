package executor

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// scrubEnv overwrites the environment block that others read in /proc/PID/environ.
func scrubEnv(full, keep []string) {
	if overwriteEnv(keep) != nil {
		_ = reexec(full, keep) // when this fails too, there is no third way
	}
}

// overwriteEnv writes keep over the block, which the kernel put on our first stack. The runtime has made copies of
// the strings in it before main.
func overwriteEnv(keep []string) error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	// Fields 50 and 51 are the bounds; the second field may hold spaces, so counting begins behind it.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 49 {
		return errors.New("too few fields in /proc/self/stat")
	}
	start, err := strconv.ParseUint(f[47], 10, 64)
	if err != nil {
		return err
	}
	end, err := strconv.ParseUint(f[48], 10, 64)
	if err != nil {
		return err
	}
	block := []byte(strings.Join(keep, "\x00") + "\x00")
	if start == 0 || end < start || uint64(len(block)) > end-start {
		return errors.New("environment block not found")
	}
	block = append(block, make([]byte, int(end-start)-len(block))...)
	memory, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = memory.Close() }()
	if _, err := memory.WriteAt(block, int64(start)); err != nil {
		return err
	}
	seen, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return err
	}
	if !bytes.Equal(seen, block) {
		return errors.New("environment block is still there")
	}
	return nil
}

// handOverFile returns a file that exists only in memory.
func handOverFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("env", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "env"), nil
}

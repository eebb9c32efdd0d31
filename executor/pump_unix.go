//go:build unix

package executor

import (
	"os"
	"sync"
	"syscall"
)

// chatty is how much a command writes before its pipe is made larger.
const chatty = 4 * bufferSize

// pump reads f until its end, an error or f.Close, and hands on what it reads; write may not keep it. A buffer is
// taken only when there may be something to read: a quiet left-over child costs none.
func pump(f *os.File, buffers *sync.Pool, write func([]byte)) {
	conn, err := f.SyscallConn()
	if err != nil {
		return // closed already
	}
	total, grown, more := 0, false, true
	step := func(fd uintptr) bool {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		n, err := syscall.Read(int(fd), *buf)
		switch {
		case err == syscall.EAGAIN:
			return false
		case err == syscall.EINTR:
			return true
		case n <= 0 || err != nil:
			more = false
			return true
		}
		write((*buf)[:n])
		if total += n; total > chatty && !grown {
			grown = true
			growPipe(int(fd))
		}
		return true
	}
	for more {
		if conn.Read(step) != nil {
			return
		}
	}
}

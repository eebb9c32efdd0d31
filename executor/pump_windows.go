package executor

import (
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// firstRead is the size of the buffer in which a reader waits. It is small because a quiet left-over child keeps it.
const firstRead = 1 << 10

// pump reads f until its end, an error or f.Close, and hands on what it reads; write may not keep it.
func pump(f *os.File, buffers *sync.Pool, write func([]byte)) {
	conn, err := f.SyscallConn()
	if err != nil {
		return // closed already
	}
	peek := windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")
	wait := make([]byte, firstRead)
	for {
		n, err := f.Read(wait)
		write(wait[:n])
		for err == nil && hasData(conn, peek) {
			buf := buffers.Get().(*[]byte)
			n, err = f.Read(*buf)
			write((*buf)[:n])
			buffers.Put(buf)
		}
		if err != nil {
			return
		}
	}
}

// hasData reports whether a pipe holds data now.
func hasData(conn syscall.RawConn, peek *windows.LazyProc) bool {
	var n uint32
	err := conn.Control(func(fd uintptr) {
		_, _, _ = peek.Call(fd, 0, 0, 0, uintptr(unsafe.Pointer(&n)), 0) // n stays 0 when it fails
	})
	return err == nil && n > 0
}

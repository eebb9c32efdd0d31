//go:build unix

package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Terminal is one pseudo-terminal. It is safe for concurrent use but for Read and Attach.
type Terminal struct {
	master  *os.File
	sending chan struct{}

	mu    sync.Mutex
	slave *os.File // nil once started or closed
}

// Open opens a pseudo-terminal of that size, with the modes that a login would find: what is typed is echoed and edited
// by the line, in UTF-8. Its errors are *Error; see Unavailable.
func Open(size Size) (*Terminal, error) {
	if err := size.Check(); err != nil {
		return nil, err
	}
	first, slave, err := creack.Open()
	if err != nil {
		return nil, openError(err)
	}
	// The library has made it blocking, so that it has no deadlines.
	master, err := pollable(first)
	_ = first.Close()
	if err != nil {
		_ = slave.Close()
		return nil, openError(err)
	}
	t := &Terminal{master: master, slave: slave, sending: make(chan struct{}, 1)}
	err = t.SetSize(size)
	if err == nil {
		err = t.inUTF8()
	}
	if err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// pollable returns f again, non-blocking.
func pollable(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("dup: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("set non-blocking: %w", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// inUTF8 tells the terminal that its characters are UTF-8, so that a backspace takes a whole one.
func (t *Terminal) inUTF8() error {
	return t.control(codeModes, func(fd int) error {
		modes, err := unix.IoctlGetTermios(fd, getModes)
		if err != nil {
			return err
		}
		modes.Iflag |= unix.IUTF8
		return unix.IoctlSetTermios(fd, setModes, modes)
	})
}

// control does something with the master's descriptor, which must not become blocking by it.
func (t *Terminal) control(code string, do func(fd int) error) error {
	conn, err := t.master.SyscallConn()
	if err == nil {
		var inner error
		err = conn.Control(func(fd uintptr) { inner = do(int(fd)) })
		if err == nil {
			err = inner
		}
	}
	if err != nil {
		return &Error{Code: code, Args: []any{err}, Err: err}
	}
	return nil
}

// Attach makes the terminal the controlling terminal of the process that sys is for, which leads a session of its own. TTY
// must be its descriptors 0, 1 and 2.
func (t *Terminal) Attach(sys *syscall.SysProcAttr) {
	sys.Setsid, sys.Setctty, sys.Ctty = true, true, 0
}

// TTY is the end for the process; nil after Started or Close.
func (t *Terminal) TTY() *os.File {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.slave
}

// Master is our end, non-blocking: for a reader of its own. Its error at the end is told by HungUp.
func (t *Terminal) Master() *os.File { return t.master }

func (t *Terminal) input() *os.File { return t.master }

// Started is to be called when the process was started: from now on only programs keep the terminal open.
func (t *Terminal) Started() {
	t.mu.Lock()
	slave := t.slave
	t.slave = nil
	t.mu.Unlock()
	if slave != nil {
		_ = slave.Close() // nothing was written to it
	}
}

// Ended is to be called when the process has ended. Here it does nothing: a child that it left behind may have the terminal,
// and Read ends by itself when none has.
func (t *Terminal) Ended() {}

// Close hangs up: the session that has the terminal gets SIGHUP, reads there return nothing and writes fail. Read returns
// io.EOF. It may be called more than once.
func (t *Terminal) Close() error {
	t.Started()
	if err := t.master.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close terminal: %w", err)
	}
	return nil
}

// SetSize resizes the terminal; the program in its foreground gets SIGWINCH.
func (t *Terminal) SetSize(size Size) error {
	if err := size.Check(); err != nil {
		return err
	}
	return t.control(codeResize, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(size.Cols), Row: uint16(size.Rows)})
	})
}

// Size returns the size as it is now; a program may have changed it.
func (t *Terminal) Size() (Size, error) {
	var size Size
	err := t.control(codeResize, func(fd int) error {
		ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil {
			size = Size{Cols: int(ws.Col), Rows: int(ws.Row)}
		}
		return err
	})
	return size, err
}

// Modes returns how the terminal treats what is typed now.
func (t *Terminal) Modes() (Modes, error) {
	var m Modes
	err := t.control(codeModes, func(fd int) error {
		modes, err := unix.IoctlGetTermios(fd, getModes)
		if err == nil {
			m.Echo, m.Canonical = modes.Lflag&unix.ECHO != 0, modes.Lflag&unix.ICANON != 0
			m.EOF, m.Interrupt = character(modes.Cc[unix.VEOF]), character(modes.Cc[unix.VINTR])
			if modes.Lflag&unix.ISIG == 0 {
				m.Interrupt = 0
			}
			if !m.Canonical {
				m.EOF = 0
			}
		}
		return err
	})
	return m, err
}

// HungUp reports whether err, from reading Master, means that nobody has the terminal any more.
func HungUp(err error) bool { return errors.Is(err, syscall.EIO) || errors.Is(err, io.EOF) }

// openError says what kept a terminal from being opened.
func openError(err error) *Error {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM),
		errors.Is(err, unix.EAGAIN):
		return &Error{Code: codeLimit, Args: []any{err}, Err: err}
	}
	return &Error{Code: codeUnavailable, Args: []any{err}, Err: err}
}

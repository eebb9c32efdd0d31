//go:build unix

package pty

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// session is a program on a terminal, and what it has written so far.
type session struct {
	*Terminal
	t     *testing.T
	cmd   *exec.Cmd
	ended chan struct{} // closed at the end of the output

	mu  sync.Mutex
	out bytes.Buffer
}

const patience = 10 * time.Second

// start runs a shell command on a terminal of its own.
func start(t *testing.T, command string) *session {
	t.Helper()
	terminal, err := Open(Size{Cols: 100, Rows: 30})
	if err != nil {
		if Unavailable(err) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	s := &session{Terminal: terminal, t: t, cmd: exec.Command("/bin/sh", "-c", command), ended: make(chan struct{})}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = terminal.TTY(), terminal.TTY(), terminal.TTY()
	s.cmd.Env = []string{"PATH=/usr/bin:/bin", "TERM=xterm", "LC_ALL=C.UTF-8"}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{}
	terminal.Attach(s.cmd.SysProcAttr)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Started()
	go s.read()
	t.Cleanup(func() {
		_ = s.Close()
		<-s.ended
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	return s
}

func (s *session) read() {
	defer close(s.ended)
	buf := make([]byte, 4096)
	for {
		n, err := s.Read(buf)
		s.mu.Lock()
		s.out.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.t.Errorf("read: %v", err)
			}
			return
		}
	}
}

func (s *session) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// sees waits for text in the output.
func (s *session) sees(text string) {
	s.t.Helper()
	until(s.t, func() bool { return strings.Contains(s.text(), text) }, func() string { return s.text() })
}

func (s *session) sends(text string) {
	s.t.Helper()
	if n, err := s.Send([]byte(text), patience); err != nil || n != len(text) {
		s.t.Fatalf("send %q: %d, %v", text, n, err)
	}
}

// exit waits for the end of the program and of its output.
func (s *session) exit() *syscall.WaitStatus {
	s.t.Helper()
	_ = s.cmd.Wait()
	s.Ended()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatal("the output does not end")
	}
	status := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return &status
}

// until polls.
func until(t *testing.T, ok func() bool, last func() string) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain; last: %q", last())
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	s := start(t, `stty size; trap 'stty size; exit 7' WINCH; echo ready; while :; do read x; done`)
	s.sees("30 100\r\n")
	s.sees("ready")
	if size, err := s.Size(); err != nil || size != (Size{100, 30}) {
		t.Errorf("%v %v", size, err)
	}
	if err := s.SetSize(Size{Cols: 133, Rows: 44}); err != nil {
		t.Fatal(err)
	}
	s.sends("\r") // a shell runs its traps between commands
	s.sees("44 133\r\n")
	if status := s.exit(); status.ExitStatus() != 7 {
		t.Errorf("ended with %v", status)
	}
	var e *Error
	if err := s.SetSize(Size{Cols: 0, Rows: 1}); !errors.As(err, &e) || e.Code != codeSize {
		t.Errorf("a size of 0: %v", err)
	}
}

func TestFreshModes(t *testing.T) {
	t.Parallel()
	s := start(t, `stty -a; tty; cat`)
	s.sees("/dev/")
	for _, want := range []string{"icanon", "echo", "isig", "icrnl", "onlcr", "iutf8"} {
		if !slices.Contains(strings.Fields(s.text()), want) {
			t.Errorf("no %s in %s", want, s.text())
		}
	}
	if modes, err := s.Modes(); err != nil || modes != (Modes{Echo: true, Canonical: true, EOF: 4, Interrupt: 3}) {
		t.Errorf("%+v %v", modes, err)
	}
	// A whole character goes with one backspace.
	s.sends("a中\x7fb\r")
	s.sees("\r\nab\r\n")
}

func TestPassword(t *testing.T) {
	t.Parallel()
	s := start(t, `stty -echo; printf 'password: '; read x; stty echo; echo; echo "got <$x>"`)
	s.sees("password: ")
	if modes, err := s.Modes(); err != nil || modes.Echo {
		t.Errorf("while a password is asked for: %+v %v", modes, err)
	}
	s.sends("hunter2\r")
	s.sees("got <hunter2>")
	s.exit()
	if strings.Count(s.text(), "hunter2") != 1 {
		t.Errorf("the password is echoed: %q", s.text())
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := start(t, `echo ready; exec sleep 1000`)
	s.sees("ready")
	s.sends("\x03")
	if status := s.exit(); status.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v", status)
	}
}

func TestEndOfInput(t *testing.T) {
	t.Parallel()
	s := start(t, `cat; echo done`)
	s.sends("a line\r")
	s.sees("a line\r\na line\r\n")
	s.sends("\x04")
	s.sees("done")
	if status := s.exit(); status.ExitStatus() != 0 {
		t.Errorf("ended with %v", status)
	}
	if n, err := s.Read(make([]byte, 9)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d %v", n, err)
	}
}

func TestHangUp(t *testing.T) {
	t.Parallel()
	s := start(t, `echo ready; exec sleep 1000`)
	s.sees("ready")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if status := s.exit(); status.Signal() != syscall.SIGHUP {
		t.Errorf("ended with %v", status)
	}
	var e *Error
	if _, err := s.Send([]byte("x"), patience); !errors.As(err, &e) || e.Code != codeGone {
		t.Errorf("send after close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if err := s.SetSize(DefaultSize()); err == nil {
		t.Error("a closed terminal is resized")
	}
}

// TestDeafProgram holds that a program that reads nothing blocks nobody.
func TestDeafProgram(t *testing.T) {
	t.Parallel()
	s := start(t, `stty raw -echo; echo ready; exec sleep 1000`)
	s.sees("ready")
	var e *Error
	much := bytes.Repeat([]byte("x"), 1<<20)
	n, err := s.Send(much, 50*time.Millisecond)
	if !errors.As(err, &e) || e.Code != codeFull || n >= len(much) {
		t.Fatalf("%d taken, %v", n, err)
	}
	// Who waits for his turn does not wait longer either.
	s.sending <- struct{}{}
	if n, err := s.Send([]byte("z"), 20*time.Millisecond); n != 0 || !errors.As(err, &e) || e.Code != codeFull {
		t.Errorf("%d taken, %v", n, err)
	}
	<-s.sending
}

// TestOutputBeforeEnd holds that all output is read though the program has ended.
func TestOutputBeforeEnd(t *testing.T) {
	t.Parallel()
	s := start(t, `i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done`)
	s.exit()
	if got := strings.Count(s.text(), "\r\n"); got != 2000 {
		t.Errorf("%d lines of 2000", got)
	}
}

func TestDescriptors(t *testing.T) {
	t.Parallel()
	terminal, err := Open(DefaultSize())
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	for name, f := range map[string]interface {
		SyscallConn() (syscall.RawConn, error)
	}{"master": terminal.Master(), "slave": terminal.TTY()} {
		conn, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Control(func(fd uintptr) {
			flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
			if err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("%s is inherited: %v", name, err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if size, err := terminal.Size(); err != nil || size != DefaultSize() {
		t.Errorf("%v %v", size, err)
	}
}

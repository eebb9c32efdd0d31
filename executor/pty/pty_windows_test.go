package pty

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestConsole runs a command in a console and reads what it prints, to the end.
func TestConsole(t *testing.T) {
	t.Parallel()
	terminal, err := Open(Size{Cols: 90, Rows: 20})
	if err != nil {
		if Unavailable(err) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	defer terminal.Close()
	process := create(t, terminal, `cmd.exe /D /C "set /p x=name? & call echo hello %x%"`)
	terminal.Started()
	text := make(chan string, 1)
	go func() {
		all, err := io.ReadAll(terminal)
		if err != nil {
			t.Errorf("read: %v", err)
		}
		text <- string(all)
	}()
	if err := terminal.SetSize(Size{Cols: 100, Rows: 30}); err != nil {
		t.Error(err)
	}
	if size, err := terminal.Size(); err != nil || size != (Size{100, 30}) {
		t.Errorf("%v %v", size, err)
	}
	if n, err := terminal.Send([]byte("there\r"), 10*time.Second); n != 6 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if event, err := windows.WaitForSingleObject(process, 20_000); event != windows.WAIT_OBJECT_0 || err != nil {
		t.Errorf("the command does not end: %d %v", event, err)
		_ = windows.TerminateProcess(process, 1)
	}
	terminal.Ended()
	select {
	case got := <-text:
		if !strings.Contains(got, "hello there") {
			t.Errorf("output %q", got)
		}
	case <-time.After(20 * time.Second):
		t.Error("the output does not end")
	}
	var e *Error
	if err := terminal.SetSize(DefaultSize()); !errors.As(err, &e) || e.Code != codeGone {
		t.Errorf("resized after the end: %v", err)
	}
}

// create starts a command in the console.
func create(t *testing.T, terminal *Terminal, command string) windows.Handle {
	t.Helper()
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		t.Fatal(err)
	}
	defer attributes.Delete()
	if err := terminal.Attach(attributes); err != nil {
		t.Fatal(err)
	}
	startup := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	startup.Cb = uint32(unsafe.Sizeof(startup))
	startup.Flags = windows.STARTF_USESTDHANDLES
	line, err := windows.UTF16PtrFromString(command)
	if err != nil {
		t.Fatal(err)
	}
	var info windows.ProcessInformation
	if err := windows.CreateProcess(nil, line, nil, nil, false, windows.EXTENDED_STARTUPINFO_PRESENT, nil, nil, &startup.StartupInfo, &info); err != nil {
		t.Fatal(err)
	}
	_ = windows.CloseHandle(info.Thread)
	t.Cleanup(func() { _ = windows.CloseHandle(info.Process) })
	return info.Process
}

// TestCloseWithoutProcess holds that a console nobody uses ends at once.
func TestCloseWithoutProcess(t *testing.T) {
	t.Parallel()
	terminal, err := Open(DefaultSize())
	if err != nil {
		if !Unavailable(err) {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err := terminal.Close(); err != nil {
		t.Error(err)
	}
	if err := terminal.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
	if _, err := terminal.Read(make([]byte, 9)); !errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
}

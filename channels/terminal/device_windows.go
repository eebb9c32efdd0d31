package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// prepareOutput makes a console take escape sequences.
func prepareOutput(out *os.File) (undo func(), err error) {
	handle := windows.Handle(out.Fd())
	var before uint32
	if err := windows.GetConsoleMode(handle, &before); err != nil {
		return nil, err
	}
	mode := before | windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	if err := windows.SetConsoleMode(handle, mode); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(handle, before) }, nil // it may be gone
}

// suspend: there is no such thing here.
func suspend() {}

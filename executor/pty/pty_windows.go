package pty

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Terminal is one pseudo console. It is safe for concurrent use but for Read and Attach.
type Terminal struct {
	output, typed *os.File // what programs write; what we type
	sending       chan struct{}

	mu      sync.Mutex
	console windows.Handle // 0 once closed
	theirs  []windows.Handle
	size    Size
}

// Open opens a pseudo console of that size. Its errors are *Error; see Unavailable.
func Open(size Size) (*Terminal, error) {
	if err := size.Check(); err != nil {
		return nil, err
	}
	// Calling what is missing would be a panic.
	if err := windows.NewLazySystemDLL("kernel32.dll").NewProc("CreatePseudoConsole").Find(); err != nil {
		return nil, openError(err)
	}
	t := &Terminal{sending: make(chan struct{}, 1), size: size}
	output, write, err := pipe(windows.PIPE_ACCESS_INBOUND, windows.GENERIC_WRITE)
	if err != nil {
		return nil, openError(err)
	}
	t.output, t.theirs = output, []windows.Handle{write}
	typed, read, err := pipe(windows.PIPE_ACCESS_OUTBOUND, windows.GENERIC_READ)
	if err != nil {
		_ = t.Close()
		return nil, openError(err)
	}
	t.typed, t.theirs = typed, append(t.theirs, read)
	if err := windows.CreatePseudoConsole(coord(size), read, write, 0, &t.console); err != nil {
		t.console = 0
		_ = t.Close()
		return nil, openError(err)
	}
	// Wine has consoles that can be made but not used: no program gets one, and this is not implemented.
	if err := windows.ResizePseudoConsole(t.console, coord(size)); err != nil {
		_ = t.Close()
		return nil, openError(err)
	}
	return t, nil
}

// pipe returns both ends of a pipe, ours with deadlines. Nobody else can get in between: there is one instance, its name
// is random, and only our user may open it.
func pipe(direction, access uint32) (*os.File, windows.Handle, error) {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	name, err := windows.UTF16PtrFromString(fmt.Sprintf(`\\.\pipe\maishell-%d-%x`, os.Getpid(), id))
	if err != nil {
		return nil, 0, err
	}
	const size = 64 << 10
	ours, err := windows.CreateNamedPipe(name, direction|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_WAIT|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, size, size, 0, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("create pipe: %w", err)
	}
	theirs, err := windows.CreateFile(name, access, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		_ = windows.CloseHandle(ours)
		return nil, 0, fmt.Errorf("open pipe: %w", err)
	}
	return os.NewFile(uintptr(ours), "console"), theirs, nil
}

// Attach makes the console that of the process that is created with these attributes, of which it takes one. The process
// must inherit no handle, have STARTF_USESTDHANDLES with three handles of 0, and be created without CREATE_NO_WINDOW, which
// would give it another console, and CREATE_NEW_PROCESS_GROUP, which would make it ignore Ctrl-C.
func (t *Terminal) Attach(attributes *windows.ProcThreadAttributeListContainer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The attribute is the handle itself, not where it is.
	handle := *(*unsafe.Pointer)(unsafe.Pointer(&t.console))
	if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, handle, unsafe.Sizeof(t.console)); err != nil {
		return fmt.Errorf("attach console: %w", err)
	}
	return nil
}

// Master is what programs wrote, for a reader of its own. Its error at the end is told by HungUp.
func (t *Terminal) Master() *os.File { return t.output }

func (t *Terminal) input() *os.File { return t.typed }

// Started is to be called when the process was started: from now on only the console keeps its ends of the pipes.
func (t *Terminal) Started() {
	t.mu.Lock()
	theirs := t.theirs
	t.theirs = nil
	t.mu.Unlock()
	for _, handle := range theirs {
		_ = windows.CloseHandle(handle) // nothing was done with it
	}
}

// Ended is to be called when the process has ended: a console does not end with its programs. It is closed, which ends
// whoever is left in it, and Read returns what is still to come and then io.EOF. The system may not return from this before
// all is read, so nobody waits for it.
func (t *Terminal) Ended() {
	t.Started()
	t.mu.Lock()
	console := t.console
	t.console = 0
	t.mu.Unlock()
	if console != 0 {
		go windows.ClosePseudoConsole(console)
	}
}

// Close closes the console, which ends whoever is in it. Read returns io.EOF. It may be called more than once.
func (t *Terminal) Close() error {
	var errs []error
	// Without a reader the console has nothing to wait for.
	for _, f := range []*os.File{t.output, t.typed} {
		if f == nil {
			continue
		}
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			errs = append(errs, fmt.Errorf("close terminal: %w", err))
		}
	}
	t.Ended()
	return errors.Join(errs...)
}

// SetSize resizes the console.
func (t *Terminal) SetSize(size Size) error {
	if err := size.Check(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.console == 0 {
		return &Error{Code: codeGone}
	}
	if err := windows.ResizePseudoConsole(t.console, coord(size)); err != nil {
		return &Error{Code: codeResize, Args: []any{err}, Err: err}
	}
	t.size = size
	return nil
}

// Size returns the size that was set last.
func (t *Terminal) Size() (Size, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size, nil
}

// Modes always fails: a console does not tell its modes to those outside.
func (t *Terminal) Modes() (Modes, error) {
	return Modes{}, &Error{Code: codeModes, Args: []any{windows.ERROR_NOT_SUPPORTED}, Err: windows.ERROR_NOT_SUPPORTED}
}

// HungUp reports whether err, from reading Master, means that the console is closed.
func HungUp(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, io.EOF)
}

func coord(size Size) windows.Coord { return windows.Coord{X: int16(size.Cols), Y: int16(size.Rows)} }

// openError says what kept a console from being opened.
func openError(err error) *Error {
	if errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES) || errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY) ||
		errors.Is(err, windows.ERROR_NO_SYSTEM_RESOURCES) || errors.Is(err, windows.ERROR_COMMITMENT_LIMIT) {
		return &Error{Code: codeLimit, Args: []any{err}, Err: err}
	}
	return &Error{Code: codeUnavailable, Args: []any{err}, Err: err}
}

package executor

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// spawn starts a command. It stands still until it is in its job, so that no process of it can be outside.
func (p *platform) spawn(s spawnSpec) (*child, error) {
	s.shell = findShell(s.shell, s.env)
	line, bad := commandLine(s.shell, s.command)
	if bad != nil {
		return nil, bad
	}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, startError(s, err)
	}
	c := &child{job: job}
	if err = endWithJob(job, true); err == nil {
		err = p.start(c, s, line)
	}
	if err != nil {
		_ = windows.CloseHandle(job) // ends what was started
		return nil, startError(s, err)
	}
	return c, nil
}

// start creates the pipes and the process, and fills in c.
func (p *platform) start(c *child, s spawnSpec, line string) error {
	stdout, outEnd, err := outputPipe()
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(outEnd) }()
	stderr, errEnd, err := outputPipe()
	if err != nil {
		_ = stdout.Close()
		return err
	}
	defer func() { _ = windows.CloseHandle(errEnd) }()
	stdin, err := p.stdin(s.stdin)
	if err != nil {
		_ = stdout.Close()
		_ = stderr.Close()
		return err
	}
	if stdin != p.null {
		defer func() { _ = windows.CloseHandle(stdin) }()
	}
	info, err := createProcess(s, line, []windows.Handle{stdin, outEnd, errEnd})
	if err == nil {
		err = windows.AssignProcessToJobObject(c.job, info.Process)
		if err == nil {
			_, err = windows.ResumeThread(info.Thread)
		}
		_ = windows.CloseHandle(info.Thread)
		if err != nil {
			_ = windows.TerminateProcess(info.Process, 1) // it may not be in the job
			_ = windows.CloseHandle(info.Process)
		}
	}
	if err != nil {
		_ = stdout.Close()
		_ = stderr.Close()
		return err
	}
	c.stdout, c.stderr, c.process, c.id = stdout, stderr, info.Process, int(info.ProcessId)
	return nil
}

// createProcess creates the suspended process. Of our handles it inherits std and nothing else.
func createProcess(s spawnSpec, line string, std []windows.Handle) (*windows.ProcessInformation, error) {
	shell, err := windows.UTF16PtrFromString(s.shell)
	if err != nil {
		return nil, err
	}
	text, err := windows.UTF16PtrFromString(line)
	if err != nil {
		return nil, err
	}
	dir, err := windows.UTF16PtrFromString(s.dir)
	if err != nil {
		return nil, err
	}
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		return nil, err
	}
	defer attributes.Delete()
	err = attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&std[0]), uintptr(len(std))*unsafe.Sizeof(std[0]))
	if err != nil {
		return nil, err
	}
	startup := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	startup.Cb = uint32(unsafe.Sizeof(startup))
	startup.Flags = windows.STARTF_USESTDHANDLES
	startup.StdInput, startup.StdOutput, startup.StdErr = std[0], std[1], std[2]
	const flags = windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW |
		windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT
	block := environmentBlock(s.env)
	info := new(windows.ProcessInformation)
	if err := windows.CreateProcess(shell, text, nil, nil, true, flags, &block[0], dir, &startup.StartupInfo, info); err != nil {
		return nil, err
	}
	return info, nil
}

// outputPipe returns both ends of a pipe. It is a named one because reads from an anonymous one cannot be interrupted.
// Nobody else can get in between: there is one instance, its name is random, and only our user may write to it.
func outputPipe() (*os.File, windows.Handle, error) {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	name, err := windows.UTF16PtrFromString(fmt.Sprintf(`\\.\pipe\maishell-%d-%x`, os.Getpid(), id))
	if err != nil {
		return nil, 0, err
	}
	const size = 64 << 10
	read, err := windows.CreateNamedPipe(name,
		windows.PIPE_ACCESS_INBOUND|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_WAIT|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, 0, size, 0, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("create pipe: %w", err)
	}
	write, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, inheritable(), windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		_ = windows.CloseHandle(read)
		return nil, 0, fmt.Errorf("open pipe: %w", err)
	}
	return os.NewFile(uintptr(read), "output"), write, nil
}

func inheritable() *windows.SecurityAttributes {
	var sa windows.SecurityAttributes
	sa.Length = uint32(unsafe.Sizeof(sa))
	sa.InheritHandle = 1
	return &sa
}

// startError is spawnError with the system's own codes.
func startError(s spawnSpec, err error) *Error {
	switch {
	case errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE):
		return &Error{Code: codeArgsTooLong, Err: err}
	case errors.Is(err, windows.ERROR_NOT_ENOUGH_QUOTA):
		return &Error{Code: codeProcessLimit, Err: err}
	case errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES):
		return &Error{Code: codeFileLimit, Err: err}
	case errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY), errors.Is(err, windows.ERROR_NO_SYSTEM_RESOURCES),
		errors.Is(err, windows.ERROR_COMMITMENT_LIMIT):
		return &Error{Code: codeMemory, Err: err}
	}
	coded := spawnError(s, err)
	if coded.Code == codeSpawn && (errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_BAD_EXE_FORMAT)) {
		return &Error{Code: codeShellUnusable, Args: []any{s.shell, err}, Err: err}
	}
	return coded
}

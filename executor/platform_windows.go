package executor

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// platform starts commands in job objects. A process cannot leave its job, so ending the job ends the whole tree.
type platform struct {
	null windows.Handle // standard input of every command; inheritable
}

func newPlatform(*slog.Logger) (*platform, error) {
	name, err := windows.UTF16PtrFromString(os.DevNull)
	if err != nil {
		return nil, err
	}
	null, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE,
		inheritable(), windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	return &platform{null: null}, nil
}

func (p *platform) capabilities() Capabilities {
	return Capabilities{KillMethod: "job", Shell: defaultShell(os.Environ())}
}

func (p *platform) close() error { return windows.CloseHandle(p.null) }

// enterable returns nil: a directory that may not be entered is reported by the start itself.
func enterable(string) error { return nil }

// child is a running command.
type child struct {
	stdout, stderr *os.File
	process        windows.Handle
	id             int
	job            windows.Handle
}

func (c *child) pid() int { return c.id }

// wait returns the exit code as %ERRORLEVEL% shows it: signed.
func (c *child) wait() exitState {
	var code uint32
	if _, err := windows.WaitForSingleObject(c.process, windows.INFINITE); err != nil {
		return exitState{code: unknownExit}
	}
	if err := windows.GetExitCodeProcess(c.process, &code); err != nil {
		return exitState{code: unknownExit}
	}
	return exitState{code: int(int32(code))}
}

// terminate is kill: no message reaches every kind of program here.
func (c *child) terminate() { c.kill() }

func (c *child) kill() {
	_ = windows.TerminateJobObject(c.job, 1) // the handle is ours; a tree that has ended is no error
}

// alive lists the job. The console's own helper process ends by itself with the last program that uses the console.
func (c *child) alive() []int {
	var pids []int
	for _, pid := range jobProcesses(c.job) {
		if !isConsoleHost(pid) {
			pids = append(pids, int(pid))
		}
	}
	slices.Sort(pids)
	return pids
}

func (c *child) release() {
	_ = endWithJob(c.job, false)
	_ = windows.CloseHandle(c.job)
	_ = windows.CloseHandle(c.process)
}

// endWithJob sets whether closing the job, also by our own death, ends its processes.
func endWithJob(job windows.Handle, end bool) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if end {
		info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	}
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// jobProcesses returns the ids of the running processes of a job.
func jobProcesses(job windows.Handle) []uint32 {
	const header = 2 // two 32-bit counts, padded to one word per id
	for size := 64; ; size *= 2 {
		list := make([]uintptr, size)
		err := windows.QueryInformationJobObject(job, windows.JobObjectBasicProcessIdList,
			uintptr(unsafe.Pointer(&list[0])), uint32(uintptr(size)*unsafe.Sizeof(list[0])), nil)
		if err == windows.ERROR_MORE_DATA && size < 1<<20 {
			continue
		}
		if err != nil {
			return nil
		}
		counts := (*[header]uint32)(unsafe.Pointer(&list[0]))
		ids := list[unsafe.Sizeof(*counts)/unsafe.Sizeof(list[0]):]
		pids := make([]uint32, 0, counts[1])
		for _, id := range ids[:min(int(counts[1]), len(ids))] {
			pids = append(pids, uint32(id))
		}
		return pids
	}
}

// isConsoleHost reports whether pid is the process behind a console window, or has ended.
func isConsoleHost(pid uint32) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return err == windows.ERROR_INVALID_PARAMETER // no such process
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var name [windows.MAX_LONG_PATH]uint16
	size := uint32(len(name))
	if err := windows.QueryFullProcessImageName(process, 0, &name[0], &size); err != nil {
		return false
	}
	base := shellBase(windows.UTF16ToString(name[:size]))
	return base == "conhost" || base == "openconsole"
}

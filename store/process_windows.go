package store

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// processStart identifies the process with that pid among all that ever had or will have the number, by the moment it
// was created. It is empty when there is no such process or it has ended and only a handle keeps its number.
func processStart(pid int) (string, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", err
	}
	const stillActive = 259
	var code uint32
	if err := windows.GetExitCodeProcess(h, &code); err != nil {
		return "", err
	}
	if code != stillActive {
		return "", nil
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), nil
}

package tools

import (
	. "os"

	"golang.org/x/sys/windows"
)

func run() {
	_, _ = StartProcess("true", nil, nil)
	_ = windows.CreateProcessAsUser
	_ = windows.NewLazySystemDLL("shell32.dll").NewProc("ShellExecuteW")
}

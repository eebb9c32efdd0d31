package executor

import (
	"strconv"

	"golang.org/x/sys/windows"
)

// localePage returns the OEM code page: console programs write that one, not the ANSI page.
func localePage() string {
	page, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetOEMCP").Call()
	return strconv.Itoa(int(page))
}

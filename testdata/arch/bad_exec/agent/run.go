// Package agent starts processes in the plain ways.
package agent

import (
	system "os"
	"os/exec"
	"syscall"
)

func run() {
	_ = exec.Command("true")
	_, _ = system.StartProcess("true", nil, nil)
	start := syscall.ForkExec
	_ = start
}

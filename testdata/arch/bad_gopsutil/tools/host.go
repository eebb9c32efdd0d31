// Package tools asks gopsutil for what it starts programs for.
package tools

import (
	"context"

	"github.com/shirou/gopsutil/v4/host"
	psnet "github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

func ask(ctx context.Context, p *process.Process) {
	_, _ = host.InfoWithContext(ctx)
	_, _ = host.BootTime()
	_, _ = psnet.Connections("all")
	_, _ = p.Status()
	_, _ = p.Ppid()
}

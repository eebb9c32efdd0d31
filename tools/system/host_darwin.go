package system

import (
	"context"

	"github.com/shirou/gopsutil/v4/load"
	"golang.org/x/sys/unix"
)

const systemName = "darwin"

func platform(context.Context) string {
	version, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return "macOS"
	}
	return "macOS " + version
}

func loadAverage(ctx context.Context) (*Load, error) {
	l, err := load.AvgWithContext(ctx)
	if err != nil {
		return nil, err
	}
	return &Load{One: l.Load1, Five: l.Load5, Fifteen: l.Load15}, nil
}

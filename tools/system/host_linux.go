package system

import (
	"bufio"
	"context"
	"os"
	"strings"

	"github.com/shirou/gopsutil/v4/load"
)

const systemName = "linux"

// platform is the distribution's own name for itself.
func platform(context.Context) string {
	for _, name := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		if pretty := osRelease(name); pretty != "" {
			return pretty
		}
	}
	return systemName
}

func osRelease(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

func loadAverage(ctx context.Context) (*Load, error) {
	l, err := load.AvgWithContext(ctx)
	if err != nil {
		return nil, err
	}
	return &Load{One: l.Load1, Five: l.Load5, Fifteen: l.Load15}, nil
}

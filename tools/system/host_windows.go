package system

import (
	"context"

	"github.com/shirou/gopsutil/v4/host"
)

const systemName = "windows"

// platform comes from the registry here; no program is started.
func platform(ctx context.Context) string {
	name, _, version, err := host.PlatformInformationWithContext(ctx)
	if err != nil {
		return systemName
	}
	return name + " " + version
}

// loadAverage: Windows keeps none.
func loadAverage(context.Context) (*Load, error) { return nil, nil }

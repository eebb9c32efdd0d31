package tools

import "github.com/shirou/gopsutil/v4/host"

func id() { _, _ = host.HostID() }

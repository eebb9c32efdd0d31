package system

import "runtime"

// architecture is that of the running binary.
func architecture() string { return runtime.GOARCH }

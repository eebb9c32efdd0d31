//go:build !linux

package guard

// kernelDirs: there is nothing of the kind here.
func kernelDirs() []string { return nil }

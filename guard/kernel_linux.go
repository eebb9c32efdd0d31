package guard

// kernelDirs are where the kernel shows itself and its processes as files.
func kernelDirs() []string { return []string{"/proc", "/sys"} }

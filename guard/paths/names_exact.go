//go:build !darwin && !windows

package paths

// Key is equal for two paths that name the same file by their text alone.
func Key(path string) string { return path }

// EntryName is the name that the file system keeps for an element of a path.
func EntryName(name string) string { return name }

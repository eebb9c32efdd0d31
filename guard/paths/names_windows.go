package paths

import "strings"

// Key is equal for two paths that name the same file by their text alone.
func Key(path string) string { return strings.ToLower(strings.ReplaceAll(path, "/", `\`)) }

// EntryName is the name that the file system keeps for an element of a path: a stream belongs to its file, and dots
// and blanks at the end are dropped.
func EntryName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

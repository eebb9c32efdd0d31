package paths

import "strings"

// Key is equal for two paths that name the same file by their text alone. Volumes that tell the case apart exist;
// on those two names are taken for one, which only refuses more.
func Key(path string) string { return strings.ToLower(path) }

// EntryName is the name that the file system keeps for an element of a path.
func EntryName(name string) string { return name }

//go:build unix

package app

import "io/fs"

// needsTerm: a terminal says by TERM what it takes; without one it may be anything.
const needsTerm = true

// readableByOthers reports whether somebody beside the owner may read the file.
func readableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o044 != 0 }

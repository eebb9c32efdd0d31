//go:build unix

package app

import "io/fs"

// needsTerm: a terminal says by TERM what it takes; without one it may be anything.
const needsTerm = true

// openToOthers reports whether somebody beside the owner may read or change the file.
func openToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o066 != 0 }

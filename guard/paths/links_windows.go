package paths

import "io/fs"

// The number of links and the volume are not part of the information here: every file may have another name.

func MoreNames(fs.FileInfo) bool { return true }

func SameVolume(_, _ fs.FileInfo) bool { return true }

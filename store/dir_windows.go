package store

import "io/fs"

// Access is governed by inherited ACLs here: a directory below the user's profile is the user's own. Mode bits say
// nothing about others.

func ownedByUs(fs.FileInfo) bool { return true }

func openToOthers(fs.FileInfo) bool { return false }

package app

import "io/fs"

// needsTerm: a console is what it is, whatever TERM says.
const needsTerm = false

// openToOthers: the mode says nothing about that here.
func openToOthers(fs.FileInfo) bool { return false }

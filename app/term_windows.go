package app

import "io/fs"

// needsTerm: a console is what it is, whatever TERM says.
const needsTerm = false

// readableByOthers: the mode says nothing about that here.
func readableByOthers(fs.FileInfo) bool { return false }

// Package app reaches for a function behind its package's back.
package app

import _ "unsafe"

//go:linkname start os.StartProcess
func start(name string, argv []string, attr *int) (*int, error)

//go:build unix

package app

// needsTerm: a terminal says by TERM what it takes; without one it may be anything.
const needsTerm = true

// Package app is the composition root: the command line, the wiring of all packages, their lifecycle, and the
// snapshot of settings that a call uses from its begin to its end.
//
// It owns no rule of its own: who may do what is decided in roles, guard and tools; app only connects them.
// Invariant: every entrance that app opens leads to a tools.View, never to a tool's handler.
package app

//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// onTerminal is there on Linux only.
func onTerminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no terminals here") }

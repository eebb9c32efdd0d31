// Package app works before it is asked to, and looks at the platform while it runs.
package app

import "runtime"

var platform string

func init() { platform = runtime.GOOS }

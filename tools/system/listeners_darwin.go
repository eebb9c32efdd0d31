package system

import "context"

// openSockets: macOS tells this only through lsof or netstat, which we do not start.
func openSockets(context.Context, int) (all []Listener, ok bool, err error) { return nil, false, nil }

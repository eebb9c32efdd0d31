package system

import (
	"context"

	"github.com/shirou/gopsutil/v4/net"
)

// openSockets asks the IP helper library.
func openSockets(ctx context.Context, port int) (all []Listener, ok bool, err error) {
	for _, protocol := range []string{"tcp4", "tcp6", "udp4", "udp6"} {
		conns, err := net.ConnectionsWithContext(ctx, protocol)
		if err != nil {
			return nil, true, err
		}
		udp := protocol[:3] == "udp"
		for _, c := range conns {
			if !udp && c.Status != "LISTEN" || port != 0 && int(c.Laddr.Port) != port {
				continue
			}
			name := protocol
			if protocol[3] == '4' {
				name = protocol[:3]
			}
			all = append(all, Listener{Protocol: name, Address: c.Laddr.IP, Port: int(c.Laddr.Port), PID: c.Pid})
		}
	}
	return all, true, nil
}

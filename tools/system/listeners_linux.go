package system

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// The states of sockets in /proc/net that listen: TCP in LISTEN, UDP without a peer.
const (
	tcpListen = "0A"
	udpClosed = "07"
)

// openSockets reads /proc/net and finds the owners of the sockets in /proc/PID/fd. A protocol that the kernel lacks has no
// file.
func openSockets(ctx context.Context, port int) (all []Listener, ok bool, err error) {
	owner := map[string][]int{} // socket inode → indexes in all
	for _, t := range []struct{ protocol, state string }{{"tcp", tcpListen}, {"tcp6", tcpListen}, {"udp", udpClosed}, {"udp6", udpClosed}} {
		err := readSockets("/proc/net/"+t.protocol, func(line []string) {
			if line[3] != t.state {
				return
			}
			address, ok := parseAddress(line[1])
			if !ok || port != 0 && int(address.Port()) != port {
				return
			}
			owner[line[9]] = append(owner[line[9]], len(all))
			all = append(all, Listener{Protocol: t.protocol, Address: address.Addr().String(), Port: int(address.Port())})
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, true, err
		}
	}
	findOwners(ctx, owner, all)
	return all, true, nil
}

// readSockets calls each for the fields of every line of a /proc/net table.
func readSockets(name string, each func(fields []string)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan() // the heading
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 9 {
			each(fields)
		}
	}
	return lines.Err()
}

// parseAddress reads 0100007F:1F90. The address is written as 32-bit words in the machine's byte order, which is little
// endian on every platform that we build for.
func parseAddress(s string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	if !ok || err != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
	}
	addr, ok := netip.AddrFromSlice(b)
	n, err := strconv.ParseUint(port, 16, 16)
	return netip.AddrPortFrom(addr, uint16(n)), ok && err == nil
}

// findOwners sets the first process that holds each socket, as far as we may look.
func findOwners(ctx context.Context, owner map[string][]int, all []Listener) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.ParseInt(e.Name(), 10, 32)
		if err != nil || len(owner) == 0 {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		dir := "/proc/" + e.Name() + "/fd"
		fds, err := os.ReadDir(dir)
		if err != nil {
			continue // gone, or another user's
		}
		for _, fd := range fds {
			link, err := os.Readlink(dir + "/" + fd.Name())
			inode, isSocket := strings.CutPrefix(link, "socket:[")
			if err != nil || !isSocket {
				continue
			}
			inode = strings.TrimSuffix(inode, "]")
			for _, i := range owner[inode] {
				all[i].PID = int32(pid)
			}
			delete(owner, inode)
		}
	}
}

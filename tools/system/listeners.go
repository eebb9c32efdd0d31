package system

import (
	"cmp"
	"context"
	"slices"
)

// maxListeners bounds the topic.
const maxListeners = 200

// Listener is a socket that accepts connections (TCP) or datagrams (UDP).
type Listener struct {
	Protocol string `json:"protocol"` // tcp, tcp6, udp, udp6
	Address  string `json:"address"`
	Port     int    `json:"port"`
	PID      int32  `json:"pid,omitempty"` // absent when we may not know
	Program  string `json:"program,omitempty"`
	User     string `json:"user,omitempty"`
}

// listeners reports who listens, on one port or (0) on any.
func (s *source) listeners(ctx context.Context, r *Report, port int) []Listener {
	all, ok, err := openSockets(ctx, port)
	switch {
	case !ok:
		s.noProgram(r, topicListeners)
		return nil
	case err != nil:
		s.missing(r, topicListeners, err)
		return nil
	}
	slices.SortFunc(all, func(a, b Listener) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Address, b.Address), cmp.Compare(a.PID, b.PID))
	})
	if port != 0 && len(all) == 0 {
		r.Notes = append(r.Notes, s.opts.Texts().Say("tool_system.nobody_listens", port))
	}
	if len(all) > maxListeners {
		r.Notes = append(r.Notes, s.opts.Texts().Say("tool_system.cut", topicListeners, maxListeners, len(all)))
		all = all[:maxListeners]
	}
	unknown := 0
	for i := range all {
		if all[i].PID == 0 {
			unknown++
			continue
		}
		all[i].Program, all[i].User = whose(ctx, all[i].PID)
	}
	if unknown > 0 {
		r.Notes = append(r.Notes, s.opts.Texts().Say("tool_system.owner_unknown", unknown))
	}
	return append([]Listener{}, all...)
}

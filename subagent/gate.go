package subagent

import (
	"context"
	"sync"
)

// gate bounds how many sub-agents of one session work at the same time, however they were asked for.
type gate struct {
	mu      sync.Mutex
	inside  map[string]int
	changed chan struct{} // closed and replaced when somebody leaves
}

func newGate() *gate { return &gate{inside: map[string]int{}, changed: make(chan struct{})} }

// enter waits for a place among limit; false: ctx ended first.
func (g *gate) enter(ctx context.Context, session string, limit int) bool {
	for ctx.Err() == nil {
		g.mu.Lock()
		if g.inside[session] < limit {
			g.inside[session]++
			g.mu.Unlock()
			return true
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return false
}

func (g *gate) leave(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside[session]--; g.inside[session] == 0 {
		delete(g.inside, session)
	}
	close(g.changed)
	g.changed = make(chan struct{})
}

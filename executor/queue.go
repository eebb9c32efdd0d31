package executor

import (
	"slices"
	"sync"
)

// queue lets max callers in at a time; the others wait. Among those who wait the owners take turns, and within an owner
// the first come is the first served, so that one session with a hundred commands does not keep the others out.
type queue struct {
	mu      sync.Mutex
	max     int
	running int
	turns   []string // owners who wait, the next first
	waiting map[string][]*ticket
}

// ticket is one caller that waits.
type ticket struct {
	owner string
	ready chan struct{} // closed when the caller may run
}

func newQueue(limit int) *queue {
	return &queue{max: limit, waiting: map[string][]*ticket{}}
}

// enter returns nil when the caller may run at once, else a ticket to wait for.
func (q *queue) enter(owner string) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running < q.max && len(q.turns) == 0 {
		q.running++
		return nil
	}
	t := &ticket{owner: owner, ready: make(chan struct{})}
	if len(q.waiting[owner]) == 0 {
		q.turns = append(q.turns, owner)
	}
	q.waiting[owner] = append(q.waiting[owner], t)
	return t
}

// load is how many callers are in, and how many wait.
func (q *queue) load() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, tickets := range q.waiting {
		waiting += len(tickets)
	}
	return q.running, waiting
}

// leave ends a caller's run.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.admit()
}

// giveUp withdraws a ticket, also one that was called up meanwhile.
func (q *queue) giveUp(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting[t.owner], t)
	if i < 0 {
		q.running--
		q.admit()
		return
	}
	q.waiting[t.owner] = slices.Delete(q.waiting[t.owner], i, i+1)
	if len(q.waiting[t.owner]) == 0 {
		delete(q.waiting, t.owner)
		q.turns = slices.DeleteFunc(q.turns, func(owner string) bool { return owner == t.owner })
	}
}

// setMax changes how many may run; those who do already are not touched.
func (q *queue) setMax(limit int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.max = limit
	q.admit()
}

// admit calls up those who wait while there is room. q.mu is held.
func (q *queue) admit() {
	for q.running < q.max && len(q.turns) > 0 {
		owner := q.turns[0]
		line := q.waiting[owner]
		q.turns = slices.Delete(q.turns, 0, 1)
		if len(line) > 1 {
			q.waiting[owner] = line[1:]
			q.turns = append(q.turns, owner)
		} else {
			delete(q.waiting, owner)
		}
		q.running++
		close(line[0].ready)
	}
}

package agent

import (
	"sync"
	"time"
)

// maxPersons is how many persons' pace is remembered; beyond it those who may speak freely anyway are forgotten.
const maxPersons = 10_000

// rate bounds the turns of each person. The zero credit of somebody unknown is a whole minute's.
type rate struct {
	mu      sync.Mutex
	now     func() time.Time
	persons map[string]*pace
}

type pace struct {
	spent float64 // turns, at the time at
	at    time.Time
	told  bool // that it was too fast
}

func newRate() *rate { return &rate{now: time.Now, persons: map[string]*pace{}} }

// allow takes one turn of a person's credit. tell: it is the first refusal since the last allowed turn.
func (r *rate) allow(who string, perMinute int, free bool) (ok, tell bool) {
	if free || perMinute < 1 {
		return true, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	p := r.persons[who]
	if p == nil {
		if len(r.persons) >= maxPersons {
			r.forget(now)
		}
		p = &pace{at: now}
		r.persons[who] = p
	}
	p.spent = max(0, p.spent-now.Sub(p.at).Minutes()*float64(perMinute))
	p.at = now
	if p.spent+1 > float64(perMinute) {
		tell = !p.told
		p.told = true
		return false, tell
	}
	p.spent++
	p.told = false
	return true, false
}

// forget drops everybody who was quiet for a minute, whose credit is whole again. The lock is held.
func (r *rate) forget(now time.Time) {
	for who, p := range r.persons {
		if now.Sub(p.at) >= time.Minute {
			delete(r.persons, who)
		}
	}
}

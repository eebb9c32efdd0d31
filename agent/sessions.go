package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/session"
)

// maxSessions is how many conversations are remembered.
const maxSessions = 1000

// conversation is what is remembered of one session.
type conversation struct {
	id   string
	turn chan struct{} // holds a token while a turn runs; waiting turns go in order of arrival
	asks chan struct{} // holds a token while a question of ask_user is open

	// Only the running turn touches these.
	turns   []pastTurn // the finished ones, oldest first
	summary string     // of what was before turns; empty: nothing was
	loaded  bool       // what the history kept is in turns
	fits    int        // tokens that the model was found to take; 0: not known
	extra   int        // tokens by which the model counts more than Estimate, its tools included

	// guarded by sessions.mu:
	users int             // who holds this conversation now
	used  uint64          // the value of sessions.uses when it was last got
	told  map[string]bool // persons who were told once

	waiting  []*offer   // messages that came while a turn was running
	running  *running   // nil: no turn is
	question *question  // nil: nobody is asked anything
	noted    []exchange // chat commands since the last turn, and what came of them
}

// exchange is a chat command and its answer.
type exchange [2]llm.Message

const (
	maxNotes = 10   // exchanges that are kept for the next turn
	maxNoted = 4000 // characters of an answer
)

// pastTurn is a finished turn: the user's message, then everything up to the reply.
type pastTurn struct {
	messages []llm.Message // shortened where it was very long
	rows     int           // messages that the history has of it
}

// offer is a message that waits for its turn, or to be taken into the running one.
type offer struct {
	in    channels.Message
	taken chan struct{} // closed when the running turn took it
}

// running is the turn of a conversation.
type running struct {
	origin session.Origin
	cancel context.CancelFunc
	begun  time.Time
	round  int // of the model, from 1; guarded by sessions.mu
	calls  int // of tools, so far; guarded by sessions.mu
}

// question is an open question of ask_user.
type question struct {
	origin session.Origin
	answer chan string // has room for the answer
}

// sessions are the conversations, the least recently used forgotten first.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*conversation
	uses uint64 // counts get; a clock would be too coarse to order them
}

func newSessions() *sessions { return &sessions{byID: map[string]*conversation{}} }

// get gives the conversation of a session, and keeps it from being forgotten until release.
func (s *sessions) get(id string) *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[id]
	if c == nil {
		c = &conversation{id: id, turn: make(chan struct{}, 1), asks: make(chan struct{}, 1), told: map[string]bool{}}
		s.byID[id] = c
	}
	c.users++
	s.uses++
	c.used = s.uses
	s.forget()
	return c
}

func (s *sessions) release(c *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.users--
}

// note keeps an exchange for the next turn.
func (s *sessions) note(c *conversation, e exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.noted = append(c.noted, e)
	c.noted = c.noted[max(0, len(c.noted)-maxNotes):]
}

// notes gives what was noted, once.
func (s *sessions) notes(c *conversation) []exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	noted := c.noted
	c.noted = nil
	return noted
}

// first tells whether who was not told yet, and that he is now.
func (s *sessions) first(c *conversation, who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := c.told[who]
	c.told[who] = true
	return !told
}

// forget drops the conversation that was idle longest when there are too many. The lock is held.
func (s *sessions) forget() {
	if len(s.byID) <= maxSessions {
		return
	}
	var oldest *conversation
	for _, c := range s.byID {
		if c.users == 0 && (oldest == nil || c.used < oldest.used) {
			oldest = c
		}
	}
	if oldest != nil {
		delete(s.byID, oldest.id)
	}
}

// remember appends a finished turn, itself shortened to half of a number of tokens. gap stands where something is missing.
func (c *conversation) remember(turn []llm.Message, tokens int, gap llm.Message) {
	messages, dropped, at := rounds.Shorten(turn, 0, tokens/2)
	if len(dropped) > 0 {
		messages = slices.Insert(messages, at, gap)
	}
	c.turns = append(c.turns, pastTurn{messages: messages, rows: len(turn)})
}

// outgrown takes the oldest turns away, whole, when all together are over a number of tokens: so many that the rest is
// within half of it. A summary counts.
func (c *conversation) outgrown(tokens int) []pastTurn {
	total := llm.EstimateText(c.summary)
	for _, turn := range c.turns {
		total += llm.Estimate(turn.messages...)
	}
	if total <= tokens {
		return nil
	}
	n := 0
	for n < len(c.turns) && total > tokens/2 {
		total -= llm.Estimate(c.turns[n].messages...)
		n++
	}
	gone := c.turns[:n:n]
	c.turns = c.turns[n:]
	return gone
}

// same tells whether two messages are of the same person in the same role.
func same(a, b session.Origin) bool {
	return a.Caller.Key() != "" && a.Caller.Key() == b.Caller.Key() && a.Caller.GroupKey() == b.Caller.GroupKey() && a.Ceiling == b.Ceiling
}

// offer queues a message.
func (s *sessions) offer(c *conversation, m channels.Message) *offer {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &offer{in: m, taken: make(chan struct{})}
	c.waiting = append(c.waiting, o)
	return o
}

// withdraw takes an offer back. False: the running turn took it.
func (s *sessions) withdraw(c *conversation, o *offer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(c.waiting, o)
	if i < 0 {
		return false
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	return true
}

// take gives the texts that the person of the running turn said meanwhile, in their order.
func (s *sessions) take(c *conversation, o session.Origin) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	c.waiting = slices.DeleteFunc(c.waiting, func(w *offer) bool {
		if !same(w.in.Origin, o) {
			return false
		}
		texts = append(texts, w.in.Text)
		close(w.taken)
		return true
	})
	return texts
}

// run says which turn runs now; nil: none.
func (s *sessions) run(c *conversation, r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.running = r
}

// progress notes how far the running turn is. note must not call out.
func (s *sessions) progress(c *conversation, note func(*running)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.running != nil {
		note(c.running)
	}
}

// turnOf is a copy of the running turn of the origin's conversation if it is the origin's, or any; nil: there is none.
func (s *sessions) turnOf(o session.Origin, any bool) *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[o.Session]
	if c == nil || c.running == nil || !any && !same(c.running.origin, o) {
		return nil
	}
	r := *c.running
	return &r
}

// ask opens a question, or with nil closes it.
func (s *sessions) ask(c *conversation, q *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.question = q
}

// answer takes a message as the answer to the open question of its conversation, if that was put to its sender.
func (s *sessions) answer(m channels.Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[m.Origin.Session]
	if c == nil || c.question == nil || !same(c.question.origin, m.Origin) {
		return false
	}
	c.question.answer <- m.Text
	c.question = nil // one message answers one question
	return true
}

// asked tells whether a message of the origin would be the answer to an open question.
func (s *sessions) asked(o session.Origin) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[o.Session]
	return c != nil && c.question != nil && same(c.question.origin, o)
}

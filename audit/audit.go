package audit

import (
	"context"
	"encoding/json"
	"time"
)

// Kind says what a record is about.
type Kind string

// The kinds of records.
const (
	Intent  Kind = "intent"  // committed before the effect
	Outcome Kind = "outcome" // what came of it
	Refusal Kind = "refusal" // a call that did not run
	Event   Kind = "event"   // start, stop, role or config change, approval, a call whose process died
)

// StatusRecordsLost is the status of the event that a sink records when it finds that records it knows of are gone.
// Such a trail goes on, but it is never whole again.
const StatusRecordsLost = "records_lost"

// Record is one row of the audit trail. Texts in it have passed the secret filter.
type Record struct {
	Seq      int64           `json:"seq"`  // 1, 2, 3 ... without gaps; set by the sink
	Time     time.Time       `json:"time"` // UTC, microseconds; set by the sink when zero
	Kind     Kind            `json:"kind"`
	Call     string          `json:"call,omitempty"` // joins intent, outcome and approval of one call
	Instance string          `json:"instance,omitempty"`
	Caller   string          `json:"caller,omitempty"` // platform:user_id, or platform: for one without identity
	Group    string          `json:"group,omitempty"`
	Role     string          `json:"role,omitempty"`
	Session  string          `json:"session,omitempty"`
	Parent   string          `json:"parent,omitempty"`
	Channel  string          `json:"channel,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Effects  []string        `json:"effects,omitempty"`
	Command  string          `json:"command,omitempty"`
	Cwd      string          `json:"cwd,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Verdict  string          `json:"verdict,omitempty"` // allow, confirm, deny
	Rule     string          `json:"rule,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Status   string          `json:"status,omitempty"`
	ExitCode *int            `json:"exit_code,omitempty"`
	Detail   string          `json:"detail,omitempty"`
	Prev     string          `json:"prev,omitempty"` // hash of the record before; set by the sink
	Hash     string          `json:"hash,omitempty"` // set by the sink
}

// Sink keeps records. Append returns only after the record is committed; its error means: do not act.
type Sink interface {
	Append(ctx context.Context, r Record) (Record, error)
}

// Head is the end of a chain: the number and hash of its last record. The zero value is the head of an empty chain.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

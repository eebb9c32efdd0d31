package audit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Fault says what is wrong with a chain at one record.
type Fault string

// The faults. Their names are part of what `audit verify --json` prints.
const (
	Edited     Fault = "edited"     // the record does not have the hash it carries
	Unlinked   Fault = "unlinked"   // it is whole, but does not follow from the one before: one of the two was replaced
	Missing    Fault = "missing"    // this number is not there
	Reordered  Fault = "reordered"  // this number comes in the wrong place, or twice
	Unanchored Fault = "unanchored" // the chain does not begin with record 1
	Truncated  Fault = "truncated"  // the end is gone: a head that was kept elsewhere names this later record
	Headless   Fault = "headless"   // a head that was kept elsewhere names another hash for this record, or fewer records
	Lost       Fault = "lost"       // the chain holds, but this record says that records before it were lost
)

// Problem is one bad record of a chain.
type Problem struct {
	Seq   int64 `json:"seq"`
	Fault Fault `json:"fault"`
	Known int64 `json:"known,omitempty"` // for Lost: the number of a record that is known to have been there
}

func (p *Problem) Error() string { return fmt.Sprintf("audit: record %d: %s", p.Seq, p.Fault) }

// TextID returns the message id and its values for the texts catalog.
func (p *Problem) TextID() (string, []any) {
	if p.Fault == Lost {
		return "audit.fault_lost", []any{p.Seq, p.Known, p.Seq - 1}
	}
	return "audit.fault_" + string(p.Fault), []any{p.Seq}
}

// Loss is the event by which a sink records that the trail is without the record that known names.
func Loss(known Head) Record {
	return Record{Kind: Event, Status: StatusRecordsLost, Detail: "known " + strconv.FormatInt(known.Seq, 10) + " " + known.Hash}
}

// LossOf reads a record that Loss made; it is nil for every other record.
func LossOf(r *Record) *Problem {
	if r.Kind != Event || r.Status != StatusRecordsLost {
		return nil
	}
	p := &Problem{Seq: r.Seq, Fault: Lost}
	if words := strings.Fields(r.Detail); len(words) > 1 {
		p.Known, _ = strconv.ParseInt(words[1], 10, 64) // 0 when it cannot be read: a loss all the same
	}
	return p
}

// Report is what verifying a chain came to.
type Report struct {
	Records int64    `json:"records"` // how many were read
	Head    Head     `json:"head"`    // of the chain as it was read
	Problem *Problem `json:"problem"` // nil: the chain is whole. The first bad record, else the first of Lost
	// Lost are all losses that are on record, wherever the chain is bad.
	Lost []*Problem `json:"lost,omitempty"`
}

// Err is everything that was found, or nil when the chain is whole.
func (r Report) Err() error {
	if r.Problem == nil {
		return nil
	}
	errs := []error{r.Problem}
	for _, p := range r.Lost {
		if p != r.Problem {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

// Verifier checks records in the order they are given. The zero value is ready; it is not safe for concurrent use.
type Verifier struct {
	records int64
	head    Head
	problem *Problem
	lost    []*Problem
	gapEnd  int64 // while problem is Missing: the number found after the gap
	expect  []expectation
}

type expectation struct {
	head  Head
	exact bool
	seen  bool // the record with that number was read and has that hash
}

// Expect tells the verifier of a head that was kept apart from the records. The chain must contain it; when exact is
// set it must also end there. Call it before the first Add.
func (v *Verifier) Expect(h Head, exact bool) {
	v.expect = append(v.expect, expectation{head: h, exact: exact, seen: h == Head{}})
}

// Add takes the next record.
func (v *Verifier) Add(r Record) {
	v.records++
	if v.problem == nil {
		v.problem = v.check(&r)
	} else if v.problem.Fault == Missing && r.Seq >= v.problem.Seq && r.Seq < v.gapEnd {
		v.problem.Fault = Reordered // the number exists after all, only later
	}
	if p := LossOf(&r); p != nil {
		v.lost = append(v.lost, p)
	}
	for i := range v.expect {
		if e := &v.expect[i]; e.head.Seq == r.Seq && e.head.Hash == r.Hash {
			e.seen = true
		}
	}
	v.head = Head{Seq: r.Seq, Hash: r.Hash}
}

func (v *Verifier) check(r *Record) *Problem {
	want := v.head.Seq + 1
	switch {
	case v.records == 1 && (r.Seq != 1 || r.Prev != ""):
		return &Problem{Seq: r.Seq, Fault: Unanchored}
	case r.Seq > want:
		v.gapEnd = r.Seq
		return &Problem{Seq: want, Fault: Missing}
	case r.Seq < want:
		return &Problem{Seq: r.Seq, Fault: Reordered}
	case hash(r) != r.Hash:
		return &Problem{Seq: r.Seq, Fault: Edited}
	case r.Prev != v.head.Hash:
		return &Problem{Seq: r.Seq, Fault: Unlinked}
	}
	return nil
}

// Report returns the first problem of what was added, measured against the heads that Expect was given.
func (v *Verifier) Report() Report {
	r := Report{Records: v.records, Head: v.head, Problem: v.problem, Lost: v.lost}
	for _, e := range v.expect {
		if r.Problem != nil {
			break
		}
		switch {
		case e.head.Seq > v.head.Seq:
			r.Problem = &Problem{Seq: v.head.Seq + 1, Fault: Truncated}
		case !e.seen:
			r.Problem = &Problem{Seq: e.head.Seq, Fault: Headless}
		case e.exact && e.head != v.head:
			r.Problem = &Problem{Seq: e.head.Seq, Fault: Headless}
		}
	}
	if r.Problem == nil && len(r.Lost) > 0 {
		r.Problem = r.Lost[0]
	}
	return r
}

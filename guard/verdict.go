package guard

import (
	"context"
	"errors"
)

// Verdict is a decider's answer. The zero value denies.
type Verdict int

// The verdicts, strictest first.
const (
	Deny Verdict = iota
	Confirm
	Allow
)

// String returns deny, confirm or allow.
func (v Verdict) String() string {
	switch v {
	case Confirm:
		return "confirm"
	case Allow:
		return "allow"
	}
	return "deny"
}

// Decision is a verdict with the rule that gave it. Reason is a message id of the texts catalog, Args its values.
type Decision struct {
	Verdict Verdict
	Rule    string
	Reason  string
	Args    []any
	// Stderr and ExitCode are set for text that does not parse: what the shell itself would have said.
	Stderr   string
	ExitCode *int
	// Rewrite is what the action shall be instead, when it may run at all: everything is then decided anew.
	Rewrite *Rewrite
}

// Decider judges an action. An error counts as deny. A decider with nothing to say answers Allow without a rule.
type Decider interface {
	Decide(ctx context.Context, a Action) (Decision, error)
}

// Status is the machine-readable outcome of a call, a public contract.
type Status string

// The statuses that the door itself gives.
const (
	StatusOK                  Status = "ok"
	StatusRunning             Status = "running"
	StatusTimeout             Status = "timeout"
	StatusCancelled           Status = "cancelled"
	StatusInvalidArgument     Status = "invalid_argument"
	StatusPermissionDenied    Status = "permission_denied"
	StatusPolicyDenied        Status = "policy_denied"
	StatusApprovalPending     Status = "approval_pending"
	StatusApprovalDenied      Status = "approval_denied"
	StatusApprovalExpired     Status = "approval_expired"
	StatusApprovalUnavailable Status = "approval_unavailable"
	StatusOutputWithheld      Status = "output_withheld"
	StatusLimitExceeded       Status = "limit_exceeded"
	StatusSpawnFailed         Status = "spawn_failed"
	StatusInternal            Status = "internal"
)

// Refusal is the error of Do when the effect did not run. It carries a message id, not a sentence.
type Refusal struct {
	Status   Status
	Rule     string
	Reason   string
	Args     []any
	Stderr   string
	ExitCode *int
	Err      error
}

func (r *Refusal) Error() string {
	s := "guard: " + string(r.Status)
	if r.Rule != "" {
		s += " by " + r.Rule
	}
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

// Unwrap returns the cause, if any.
func (r *Refusal) Unwrap() error { return r.Err }

// TextID returns the message id and its values for the texts catalog.
func (r *Refusal) TextID() (string, []any) { return r.Reason, r.Args }

// Outcome is what an effect came to, as the record needs it. Value is the tool's own result, passed through.
type Outcome struct {
	Status   Status // empty: ok, or what the error says
	ExitCode *int
	Detail   string // the record keeps its first 4 KiB
	Value    any
	// Withheld is set by Do when the effect ran and a hook failed on its result, which then is not in Value.
	Withheld *Withheld
	// Unrecorded is set by Do when the effect ran and its outcome record could not be written.
	Unrecorded error
}

// Request is what a person is asked.
type Request struct {
	ID      string // of the call, as the records have it
	Action  Action // its texts have passed the secret filter: for showing, not for running
	Rule    string
	Reason  string
	Args    []any
	Caller  string
	Session string
}

// ErrNoApprover is what an Approver returns, wrapped or not, when nobody can answer.
var ErrNoApprover = errors.New("nobody can answer here")

// Approver asks a person. ok is false with a nil error when the person said no. ErrNoApprover (wrapped) when nobody
// can answer here: the call ends as approval_unavailable. It returns soon after ctx is done; an answer after that
// does not count.
type Approver interface {
	Approve(ctx context.Context, r Request) (ok bool, err error)
}

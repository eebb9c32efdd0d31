package executor

import "time"

// Status is how a run ended.
type Status string

// The statuses of a run. Their texts are the public ones of run_command.
const (
	OK          Status = "ok"               // the command ended by itself; its exit code says how
	Timeout     Status = "timeout"          // killed at the deadline
	Cancelled   Status = "cancelled"        // killed because the caller's context ended
	SpawnFailed Status = "spawn_failed"     // nothing ran
	Invalid     Status = "invalid_argument" // nothing ran: Err says which argument
)

// Request is one command. The zero value of a field means the executor's default.
type Request struct {
	RunID   string        // unique; reaches the command as MAISHELL_RUN_ID; empty: a random one
	Owner   string        // session; the queue is fair between owners
	Command string        // shell text, passed byte for byte; 1 to 128,000 bytes, no NUL
	Shell   string        // program that reads Command; empty: /bin/sh, on Windows %COMSPEC%
	Stdin   string        // what the command reads, as a file; empty: the null device
	Dir     string        // absolute, existing directory
	Env     []string      // NAME=value, added to the allowlisted environment
	Timeout time.Duration // > 0; counted from the launch, not from queueing
	// KillGrace is the time between SIGTERM and SIGKILL, 0: 200 ms; negative: none.
	KillGrace time.Duration
	MaxChars  int           // per stream, ≥ 100; 0: 8000
	CodePage  string        // IANA or Windows name of the fallback encoding; empty: from the locale
	Started   func(pid int) // called once, right after the launch, and waited for; may be nil
	// Watch is called once, after Started, and waited for; may be nil. peek gives the last few KiB of what the command
	// printed so far to the stream that it wrote to last, decoded and filtered; "" once the run has ended. It may be called
	// from any goroutine.
	Watch func(peek func() string)
}

// Result is what came of a run. Nothing in it is a sentence for people: tools word it.
type Result struct {
	Status   Status
	ExitCode *int   // nil when there is none; 128+n for a signal death
	Signal   string // "SIGKILL" ... when the command died of one
	Stdout   Output
	Stderr   Output
	Started  time.Time
	Duration time.Duration // from launch to return
	Silent   time.Duration // time since the last output when the run ended
	// LeftPIDs are the processes that a finished command left running.
	LeftPIDs []int
	Err      *Error // set for SpawnFailed and Invalid
}

// Output is one captured stream: decoded, filtered, readable (see package readable), bounded. When nothing was cut, all of
// it is in Head.
type Output struct {
	Head, Tail   string // both empty when Binary
	Binary       bool   // it is no text
	Kind         string // of what is binary, such as "gzip"; empty: not known
	OmittedChars int64  // characters dropped between Head and Tail, exact in UTF-8, else estimated; 0: whole
	TotalBytes   int64  // as the command wrote them
}

// Truncated reports whether anything was dropped.
func (o Output) Truncated() bool { return o.OmittedChars > 0 }

// Error is a code with parameters; the code is a message id of the texts catalog.
type Error struct {
	Code string // "executor.cwd_missing", "executor.cwd_not_dir", "executor.command_nul", ...
	Args []any
	Err  error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Code + ": " + e.Err.Error()
	}
	return e.Code
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.Err }

// TextID returns the message id and its values.
func (e *Error) TextID() (string, []any) { return e.Code, e.Args }

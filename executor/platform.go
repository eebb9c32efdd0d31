package executor

import "math"

// The platform contract. Every system's files (_linux, _darwin, _unix, _windows) define the same set, and the other
// files use nothing else:
//
//	type platform struct{ ... }
//	func newPlatform(log *slog.Logger) (*platform, error)
//	func (*platform) spawn(spawnSpec) (*child, error) // error: the system's, or a *Error, see spawnError
//	func (*platform) capabilities() Capabilities
//	func (*platform) close() error                    // after all runs ended; left-over processes stay alive
//
//	type child struct{ ... }
//	func (*child) pid() int
//	func (*child) terminate()   // asks the whole tree to end (SIGTERM, then SIGCONT); on Windows: kill
//	func (*child) kill()        // ends the whole tree, hard; may be repeated
//	func (*child) alive() []int // pids of the tree that still run, ascending; zombies do not count; nil: none
//	func (*child) release()     // gives up what belongs to the run; leftovers live on; called once, last
//
// terminate, kill and alive may be called at any time between spawn and release, also after the direct child ended:
// once it is reaped its pid is never signalled again, because the number may by then belong to somebody else.
//
//	type follower struct{ exited bool; state exitState; holds atomic.Int32; ... } // output and exit of a child
//	func (*Executor) follow(c *child, out, errs *collector) (*follower, error)
//	func (*follower) wait(until time.Time, goal goal) // takes output in, at least while it waits
//	func (*follower) interrupt()                      // from any goroutine, as closePipes; the rest from one at a time
//	func (*follower) ended() bool                     // both streams are at their end
//	func (*follower) leave()                          // goes on reading, and discarding, until they are
//	func (*follower) closePipes()                     // stops reading
//	func (*follower) free()                           // gives up what waiting needed; called once, last
//
// Linux has a follower of its own. The others share follow_other.go, for which their child has
//
//	stdout, stderr *os.File    // read ends
//	func (*child) wait() exitState // blocks until the direct child ended; reaps it exactly once; called once
//
// and all have
//
//	func pump(f *os.File, buffers *sync.Pool, write func([]byte)) // reads f until EOF, an error or f.Close; buffers
//	                                       // holds *[]byte of bufferSize; keeps none of them while there is nothing to read
//	func defaultShell(env []string) string // for Request.Shell == "", from the host environment
//	func allowedEnv(name string) bool      // the allowlist for the host environment, see env.go
//	func envKey(name string) string        // names that are equal under envKey are the same variable
//	const defaultPath                      // PATH for children when the host has none; "": leave it out
//	func enterable(dir string) error       // whether we may make the existing directory dir a working directory
//	func scrubEnv(full, keep []string)     // see TakeEnv: leave other processes only keep to read; may re-exec
//	func handedOver() []string             // see TakeEnv: the full environment from before a re-exec; nil: none

// bufferSize is the length of a reader's buffer: a pipe's usual capacity.
const bufferSize = 64 << 10

// spawnSpec is what a platform needs to start one command.
type spawnSpec struct {
	shell   string   // absolute path or a name to find in the PATH of env
	command string   // shell text
	dir     string   // absolute, existed a moment ago
	env     []string // complete; never modified or kept
	runID   string   // the value of MAISHELL_RUN_ID in env
	stdin   string   // empty: the null device
}

// unknownExit is the code of a child whose end was not seen. All others occur: on Windows negative ones too.
const unknownExit = math.MinInt

// exitState is how the direct child ended.
type exitState struct {
	code   int    // its exit code; 128+n for a death by signal n; or unknownExit
	signal string // "SIGKILL" ... for a death by signal, else empty
}

// Capabilities says what this host allows the executor to do, for the start-up log and for doctor.
type Capabilities struct {
	// KillMethod is how a whole tree is ended: "cgroup" and "job" hold for every process; "subreaper" misses a process
	// that cleared its environment and double-forked while several commands ran; "group" misses one that also left its session.
	KillMethod string
	CgroupDir  string // where the cgroups of runs are made; empty: none
	WhyNot     string // why KillMethod is not "cgroup" on Linux, in English; empty otherwise
	Shell      string // the default shell
}

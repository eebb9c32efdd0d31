package executor

import (
	"context"
	"time"
)

// How long a run waits for what.
const (
	drainTime  = 45 * time.Millisecond  // for the end of output after the command ended, at most
	settleTime = 30 * time.Millisecond  // after the command ended, for processes that are just exiting
	dyingTime  = 15 * time.Millisecond  // for the tree to be gone after SIGKILL, before the call returns
	lastOutput = 4 * time.Millisecond   // for the end of output after the tree is gone
	stubborn   = 10 * time.Second       // for a tree that SIGKILL does not end (processes stuck in the kernel)
	firstPause = 250 * time.Microsecond // between two looks at a tree; doubles up to maxPause
	maxPause   = 4 * time.Millisecond
)

// goal is what a follower waits for.
type goal int

const (
	goalTime goal = iota // that time passes
	goalEnd              // that the direct child ends, or interrupt is called
	goalExit             // that the direct child ends
	goalEOF              // that both streams end
)

// run is one command that was started.
type run struct {
	e        *Executor
	child    *child
	f        *follower
	out, err *collector
	started  time.Time
}

// Run executes one command and returns when it has ended, timed out or was cancelled. It waits its turn first, see
// Options.MaxRunning; the timeout counts from the launch. It never panics, and reports every failure in the Result.
//
// Times: a command that ends by itself is reported at once, or at most 60 ms after its exit when a left-over child
// still holds its pipes. One that is ended is reported at most 20 ms after the deadline when everything obeys SIGTERM,
// else 20 ms after KillGrace.
func (e *Executor) Run(ctx context.Context, req Request) Result {
	if bad := checkRequest(&req); bad != nil {
		return Result{Status: Invalid, Err: bad}
	}
	if !e.begin() {
		return Result{Status: SpawnFailed, Err: &Error{Code: codeClosed}}
	}
	defer e.runs.Done()
	if !e.await(ctx, req.Owner) {
		return Result{Status: Cancelled}
	}
	defer e.queue.leave()
	r, err := e.start(&req)
	if err != nil {
		return Result{Status: err.status(), Err: err}
	}
	if req.Started != nil {
		req.Started(r.child.pid())
	}
	if req.Watch != nil {
		req.Watch(r.peek)
	}
	result := Result{Status: r.await(ctx, req.Timeout), Started: r.started}
	gone := true
	if result.Status == OK {
		ended := time.Now()
		r.drain(drainTime)
		result.LeftPIDs = r.leftovers(ended)
	} else {
		gone = r.end(req.KillGrace)
	}
	r.report(&result)
	if gone {
		r.done()
	} else {
		e.runs.Add(1)
		go r.finish()
	}
	return result
}

// await takes a place in the queue and returns false if the caller gave up or the executor closed first.
func (e *Executor) await(ctx context.Context, owner string) bool {
	if ctx.Err() != nil {
		return false
	}
	ticket := e.queue.enter(owner)
	if ticket == nil {
		return true
	}
	select {
	case <-ticket.ready:
		if ctx.Err() == nil {
			return true
		}
	case <-ctx.Done():
	case <-e.closing:
	}
	e.queue.giveUp(ticket)
	return false
}

// start launches the command and begins to read its output.
func (e *Executor) start(req *Request) (*run, *Error) {
	spec := spawnSpec{
		shell:   req.Shell,
		command: req.Command,
		dir:     req.Dir,
		env:     runEnv(e.env, req.Env, req.Dir, req.RunID),
		runID:   req.RunID,
		stdin:   req.Stdin,
	}
	if spec.shell == "" {
		spec.shell = e.shell
	}
	r := &run{
		e:       e,
		out:     newCollector(req.MaxChars, req.CodePage, e.secret),
		err:     newCollector(req.MaxChars, req.CodePage, e.secret),
		started: time.Now(),
	}
	var err error
	if r.child, err = e.host.spawn(spec); err != nil {
		return nil, spawnError(spec, err)
	}
	if r.f, err = e.follow(r.child, r.out, r.err); err != nil {
		return nil, spawnError(spec, err)
	}
	e.watch(r.f)
	return r, nil
}

// await blocks until the command ended or has to be ended, and says which.
func (r *run) await(ctx context.Context, timeout time.Duration) Status {
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, r.f.interrupt)()
	}
	deadline := r.started.Add(timeout)
	r.f.wait(deadline, goalEnd)
	switch {
	case r.f.exited:
		return OK
	case !time.Now().Before(deadline):
		return Timeout
	}
	return Cancelled
}

// drain waits for the end of both streams, but not longer than limit.
func (r *run) drain(limit time.Duration) {
	if !r.f.ended() {
		r.f.wait(time.Now().Add(limit), goalEOF)
	}
}

// leftovers returns the processes that the finished command left running. Some need a moment to exit.
func (r *run) leftovers(ended time.Time) []int {
	pids := r.child.alive()
	for pause := firstPause; len(pids) > 0; pause *= 2 {
		late := time.Since(ended) >= settleTime
		r.f.wait(time.Now().Add(min(pause, maxPause)), goalTime)
		pids = r.child.alive()
		if late {
			break
		}
	}
	return pids
}

// end ends the tree: politely, then after grace by force. It returns whether nothing is left of it.
func (r *run) end(grace time.Duration) bool {
	gone := false
	if grace > 0 {
		r.child.terminate()
		gone = r.gone(grace)
	}
	r.child.kill() // also when nothing seems to be left: a process may have slipped out of what alive looks at
	if !gone {
		gone = r.gone(dyingTime)
	}
	r.drain(lastOutput)
	return gone
}

// finish goes on killing what was not gone when the call had to return.
func (r *run) finish() {
	defer r.e.runs.Done()
	for until := time.Now().Add(stubborn); time.Now().Before(until); {
		r.child.kill()
		if r.gone(dyingTime) {
			break
		}
	}
	if pids := r.child.alive(); len(pids) > 0 {
		r.e.log.Warn("processes survived SIGKILL", "pids", pids)
	}
	r.done()
}

// done gives back what the run took.
func (r *run) done() {
	r.f.free()
	r.child.release()
	r.e.letGo(r.f)
}

// gone waits until the direct child was reaped and nothing of its tree runs, but not longer than limit.
func (r *run) gone(limit time.Duration) bool {
	until := time.Now().Add(limit)
	for pause := firstPause; ; pause *= 2 {
		if r.f.exited && len(r.child.alive()) == 0 {
			return true
		}
		now := time.Now()
		if !now.Before(until) {
			return false
		}
		goal := goalExit
		if r.f.exited {
			goal = goalTime
		}
		next := now.Add(min(pause, maxPause))
		if next.After(until) {
			next = until
		}
		r.f.wait(next, goal)
	}
}

// peek is Request.Watch's.
func (r *run) peek() string {
	if r.err.lastWrite().After(r.out.lastWrite()) {
		return r.err.peek()
	}
	return r.out.peek()
}

// report takes the output and fills in what is known at the end.
func (r *run) report(result *Result) {
	last := r.started
	for _, c := range []*collector{r.out, r.err} {
		if t := c.lastWrite(); t.After(last) {
			last = t
		}
	}
	now := time.Now()
	result.Duration, result.Silent = now.Sub(r.started), now.Sub(last)
	result.Stdout, result.Stderr = r.out.finish(), r.err.finish()
	if r.f.exited && r.f.state.code != unknownExit {
		code := r.f.state.code
		result.ExitCode, result.Signal = &code, r.f.state.signal
	}
	switch {
	case r.f.ended():
	case result.Status == OK:
		r.f.leave()
	default:
		r.f.closePipes() // whoever still holds them is not of this tree
	}
}

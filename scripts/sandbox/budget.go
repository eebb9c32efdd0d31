package sandbox

import (
	"context"
	"errors"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// The reasons for which a script is stopped.
var (
	ErrTime   = errors.New("the script ran out of time")
	ErrMemory = errors.New("the script wants too much memory")
)

const (
	stepsPerInstruction = 4
	stepsPerLook        = 1024 // between two looks at the clock
)

// Budget is what a script may still use. The virtual machine asks Done before every instruction, so a budget needs
// neither a timer nor a goroutine.
type Budget struct {
	parent   context.Context
	deadline time.Time
	since    int // steps since the clock was looked at
	memory   int // bytes left
	err      error
	over     chan struct{} // closed from the beginning
}

func newBudget() *Budget {
	b := &Budget{parent: context.Background(), over: make(chan struct{}), err: ErrTime}
	close(b.over)
	return b
}

// begin gives the budget its time and its memory, in bytes.
func (b *Budget) begin(parent context.Context, limit time.Duration, memory int) {
	b.parent, b.deadline, b.since, b.memory, b.err = parent, time.Now().Add(limit), 0, memory, nil
}

// Done is closed when the budget is used up.
func (b *Budget) Done() <-chan struct{} {
	b.spend(stepsPerInstruction)
	if b.err != nil {
		return b.over
	}
	return nil
}

// Err says why the script is stopped; nil while it may go on.
func (b *Budget) Err() error { return b.err }

// Deadline returns the moment at which the script is stopped.
func (b *Budget) Deadline() (time.Time, bool) { return b.deadline, true }

// Value has none: a script's calls carry nothing from outside.
func (b *Budget) Value(any) any { return nil }

func (b *Budget) spend(steps int) {
	if b.since += steps; b.since < stepsPerLook || b.err != nil {
		return
	}
	b.since = 0
	if !time.Now().Before(b.deadline) {
		b.err = ErrTime
	} else if err := b.parent.Err(); err != nil {
		b.err = err
	}
}

// Expired looks whether the budget is used up, at the price of one step. It is for loops that cannot raise.
func (b *Budget) Expired() bool {
	b.spend(1)
	return b.err != nil
}

// Step pays for n steps of a loop outside the virtual machine; it raises when the budget is used up.
func (b *Budget) Step(l *lua.LState, n int) {
	b.spend(n)
	if b.err != nil {
		l.RaiseError("%s", b.err.Error())
	}
}

// Charge pays for n bytes that are about to be made; it raises when there are not so many left.
func (b *Budget) Charge(l *lua.LState, n int) {
	if b.err == nil && (n < 0 || n > b.memory) {
		b.err = ErrMemory
	}
	if b.err != nil {
		l.RaiseError("%s", b.err.Error())
	}
	b.memory -= n
	b.Step(l, n>>8)
}

// Pause runs work that is not the script's own and that ends by itself; its time is given back.
func (b *Budget) Pause(work func()) {
	start := time.Now()
	work()
	b.deadline = b.deadline.Add(time.Since(start))
}

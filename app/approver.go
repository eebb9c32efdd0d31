package app

import (
	"context"
	"errors"
	"strings"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/channels/terminal"
	"github.com/maishell/maishell/guard"
)

// asker lets the guard ask the person at the terminal.
type asker struct {
	terminal *terminal.Terminal
	set      *snapshotHolder
}

// Approve asks; where nobody can be asked it says guard.ErrNoApprover at once.
func (a *asker) Approve(ctx context.Context, r guard.Request) (bool, error) {
	s := a.set.get()
	if s.approvalWait == 0 {
		return false, guard.ErrNoApprover // nobody is to be waited for
	}
	effects := make([]string, len(r.Action.Effects))
	for i, e := range r.Action.Effects {
		effects[i] = string(e)
	}
	q := channels.Question{
		Caller: r.Caller, Tool: r.Action.Tool, Command: r.Action.Command, Input: r.Action.Input, Env: strings.Join(r.Action.Env, "\n"), Cwd: r.Action.Cwd,
		Effects: effects, Reason: s.texts.Say(r.Reason, r.Args...),
	}
	if q.Command == "" {
		q.Args = string(r.Action.Args)
	}
	ok, err := a.terminal.Ask(ctx, q)
	if errors.Is(err, channels.ErrCannotAsk) {
		return false, errors.Join(guard.ErrNoApprover, err)
	}
	return ok, err
}

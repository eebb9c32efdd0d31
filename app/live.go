package app

import (
	"context"
	"io/fs"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/policy"
)

// ownFiles are the own files of the snapshot in force.
type ownFiles struct{ set *snapshotHolder }

func (o ownFiles) Name() string { return guard.RuleOwnFiles }

func (o ownFiles) Decide(ctx context.Context, a guard.Action) (guard.Decision, error) {
	return o.set.get().own.Decide(ctx, a)
}

func (o ownFiles) Contains(path string) bool { return o.set.get().own.Contains(path) }

func (o ownFiles) ContainsFile(info fs.FileInfo) bool { return o.set.get().own.ContainsFile(info) }

// commandFloor is the floor under commands by the snapshot in force.
type commandFloor struct {
	set     *snapshotHolder
	dialect func(shell string) policy.Dialect
}

func (f commandFloor) Name() string { return (&guard.CommandFloor{}).Name() }

func (f commandFloor) Decide(ctx context.Context, a guard.Action) (guard.Decision, error) {
	s := f.set.get()
	floor := guard.CommandFloor{Own: s.own, Dialect: f.dialect, Binary: s.binary, Home: s.home}
	return floor.Decide(ctx, a)
}

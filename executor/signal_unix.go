//go:build unix

package executor

import (
	"errors"
	"os"
	"syscall"
)

// errGuarded is returned for a signal that was not sent because it would have met us or everybody.
var errGuarded = errors.New("signal refused: not a process of ours")

// signaller sends signals, never to process or group 0, 1 or -1, to ourselves or to our own group.
type signaller struct {
	self, group int
	send        func(pid int, sig syscall.Signal) error // kill(2)
}

func newSignaller() signaller {
	return signaller{self: os.Getpid(), group: syscall.Getpgrp(), send: syscall.Kill}
}

// toProcess signals one process.
func (s signaller) toProcess(pid int, sig syscall.Signal) error {
	if pid <= 1 || pid == s.self {
		return errGuarded
	}
	return s.send(pid, sig)
}

// toGroup signals all processes of a group.
func (s signaller) toGroup(pgid int, sig syscall.Signal) error {
	if pgid <= 1 || pgid == s.group {
		return errGuarded
	}
	return s.send(-pgid, sig)
}

// toTree sends sig to the given processes by way of their groups, which are never shared with others (a group lies in
// one session, and each run has its own). What is in the groups of seen already got sig and is left out; seen grows.
// A group is signalled as a whole because only that also reaches what it forks at that very moment.
func (s signaller) toTree(pids []int, sig syscall.Signal, seen map[int]bool) {
	for _, pid := range pids {
		pgid, err := syscall.Getpgid(pid)
		if err != nil || seen[pgid] {
			continue // gone, or done
		}
		if s.toGroup(pgid, sig) == nil {
			seen[pgid] = true
			continue
		}
		_ = s.toProcess(pid, sig) // it may be gone
	}
}

// ask sends SIGTERM to a tree, once to each process, and then lets the stopped ones run so that they can obey.
func (s signaller) ask(members func() []int) {
	seen := map[int]bool{}
	s.toTree(members(), syscall.SIGTERM, seen)
	s.toTree(members(), syscall.SIGTERM, seen) // what changed its group or was forked meanwhile
	s.toTree(members(), syscall.SIGCONT, map[int]bool{})
}

// exitOf words a wait status.
func exitOf(ws syscall.WaitStatus, name func(syscall.Signal) string) exitState {
	if ws.Signaled() {
		return exitState{code: 128 + int(ws.Signal()), signal: name(ws.Signal())}
	}
	return exitState{code: ws.ExitStatus()}
}

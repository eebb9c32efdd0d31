package guard

import (
	"encoding/json"
	"slices"
	"time"
)

// Effect is what an action may do to the world.
type Effect string

// The effects. A tool that states none counts as Execute.
const (
	Read      Effect = "read"
	Write     Effect = "write"
	Overwrite Effect = "overwrite"
	Network   Effect = "network"
	Upload    Effect = "upload"
	Execute   Effect = "execute"
	Destroy   Effect = "destroy"
	Privilege Effect = "privilege"
	Persist   Effect = "persist"
)

// known reports whether e is one of the effects above.
func (e Effect) known() bool {
	switch e {
	case Read, Write, Overwrite, Network, Upload, Execute, Destroy, Privilege, Persist:
		return true
	}
	return false
}

// Action is one tool call as it is about to happen, before anything was done.
type Action struct {
	Tool    string
	Effects []Effect
	Command string   // shell text, when the tool runs one
	Shell   string   // the program that will read Command
	Cwd     string   // absolute
	Input   string   // what the command reads on stdin
	Env     []string // NAME=value, sorted, added to the command's environment
	Reads   []string // absolute paths, as asked for (links not resolved)
	Writes  []string // absolute paths, as asked for
	Hosts   []string
	Args    json.RawMessage // the arguments as decoded, for the record
	// Timeout is how long Command may run, from its launch on; 0: the tool has none.
	Timeout time.Duration
}

// normal returns the action with its effects made explicit: none, and any that is not known, count as Execute.
func (a Action) normal() Action {
	effects := make([]Effect, 0, max(1, len(a.Effects)))
	for _, e := range a.Effects {
		if !e.known() {
			e = Execute
		}
		if !slices.Contains(effects, e) {
			effects = append(effects, e)
		}
	}
	if len(effects) == 0 {
		effects = append(effects, Execute)
	}
	a.Effects = effects
	return a
}

func (a *Action) has(e Effect) bool { return slices.Contains(a.Effects, e) }

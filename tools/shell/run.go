package shell

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/tools"
)

// Body are the keys of a result beside success, status, error and rule. They are a public contract: keys may be added.
type Body struct {
	RunID          string  `json:"run_id"` // empty: nothing was started
	Command        string  `json:"command"`
	Cwd            string  `json:"cwd"`
	ExitCode       *int    `json:"exit_code"` // null when there is none
	Stdout         string  `json:"stdout"`
	Stderr         string  `json:"stderr"`
	TimedOut       bool    `json:"timed_out"`
	Truncated      bool    `json:"truncated"`
	Duration       float64 `json:"duration_seconds"`
	Signal         string  `json:"signal,omitempty"`
	Note           string  `json:"note,omitempty"`
	BackgroundPIDs []int   `json:"background_pids,omitempty"` // left running by a command that ended
}

// refused is the body of a call of which nothing ran.
func (h *handler) refused(a guard.Action, r *guard.Refusal) any {
	if a.Command == "" {
		a.Command, a.Cwd = given(a.Args)
	}
	stderr := r.Stderr
	// A syntax error reads as the shell's own; what no shell would have said is ours to word.
	if stderr != "" && strings.HasPrefix(r.Reason, "policy.") && r.Reason != "policy.parse_error" {
		stderr = h.opts.Texts().Error(r)
	}
	if stderr != "" && !strings.HasSuffix(stderr, "\n") {
		stderr += "\n"
	}
	return Body{Command: h.opts.Redact(a.Command), Cwd: h.opts.Redact(a.Cwd), ExitCode: r.ExitCode, Stderr: stderr}
}

// given reads command and cwd from arguments that were refused, as far as they can be read.
func given(raw json.RawMessage) (command, cwd string) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", ""
	}
	for key, to := range map[string]*string{"command": &command, "cwd": &cwd} {
		if err := json.Unmarshal(all[key], to); err != nil {
			*to = "" // missing, or no text
		}
	}
	return command, cwd
}

// run performs the action as it was checked, by the settings that it was planned by.
func (h *handler) run(ctx context.Context, a args, checked guard.Action) (tools.Result, error) {
	origin, err := h.admit(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	s := *a.began
	// The limit that was decided; the setting may have been lowered while somebody was asked.
	limit := min(checked.Timeout, s.MaxTimeout, h.opts.Settings().withDefaults().MaxTimeout)
	if limit <= 0 {
		limit = s.Timeout
	}
	id := session.NewID()
	res := h.opts.Executor.Run(ctx, executor.Request{
		Watch:     tools.Live(ctx),
		RunID:     id,
		Owner:     origin.Session,
		Command:   checked.Command,
		Shell:     checked.Shell,
		Stdin:     checked.Input,
		Env:       slices.Concat(s.Env, checked.Env),
		Dir:       checked.Cwd,
		Timeout:   limit,
		KillGrace: s.KillGrace,
		MaxChars:  s.MaxOutputChars,
		CodePage:  s.CodePage,
	})
	out := h.result(id, checked, limit, s, res)
	if rewrites := guard.RewritesFrom(ctx); len(rewrites) > 0 {
		out.Body = h.rewritten(out.Body.(Body), rewrites)
	}
	return out, nil
}

// result words what came of a run.
func (h *handler) result(id string, a guard.Action, limit time.Duration, s Settings, res executor.Result) tools.Result {
	cat := h.opts.Texts()
	body := Body{
		RunID:          id,
		Command:        h.opts.Redact(a.Command),
		Cwd:            a.Cwd,
		ExitCode:       res.ExitCode,
		Stdout:         h.output(res.Stdout, s.MaxOutputChars),
		Stderr:         h.output(res.Stderr, s.MaxOutputChars),
		TimedOut:       res.Status == executor.Timeout,
		Truncated:      res.Stdout.Truncated() || res.Stderr.Truncated(),
		Duration:       seconds(res.Duration),
		Signal:         res.Signal,
		Note:           h.note(res),
		BackgroundPIDs: res.LeftPIDs,
	}
	out := tools.Result{Exit: res.ExitCode}
	switch res.Status {
	case executor.OK:
		out.Status = guard.StatusOK
	case executor.Timeout:
		out.Status = guard.StatusTimeout
		out.Error = cat.Say("tool_shell.timeout", tools.Number(limit.Seconds()))
	case executor.Cancelled:
		out.Status = guard.StatusCancelled
		out.Error = cat.Say("tool_shell.cancelled")
		if res.Started.IsZero() {
			body.RunID = ""
			out.Error = cat.Say("tool_shell.cancelled_unstarted")
		}
	case executor.SpawnFailed, executor.Invalid:
		body.RunID = ""
		out.Status = guard.StatusSpawnFailed
		if res.Status == executor.Invalid {
			out.Status = guard.StatusInvalidArgument
		}
		if res.Err != nil {
			out.Error = cat.Error(res.Err)
		}
	default:
		out.Status = guard.StatusInternal
		out.Error = cat.Say("tool_shell.unknown_end", res.Status)
	}
	out.Body = body
	return out
}

// output is a stream as a model or a person gets it.
func (h *handler) output(o executor.Output, limit int) string {
	cat := h.opts.Texts()
	switch {
	case o.Binary && o.Kind != "":
		return cat.Say("tool_shell.binary_kind", o.TotalBytes, o.Kind)
	case o.Binary:
		return cat.Say("tool_shell.binary", o.TotalBytes)
	}
	return o.Text(limit, func(missing int64) string { return cat.Say("tool_shell.truncated", missing) })
}

// rewritten adds to the note what was asked for: the body's command is what ran.
func (h *handler) rewritten(b Body, rewrites []guard.Rewritten) Body {
	for _, r := range slices.Backward(rewrites) {
		text := h.opts.Texts().Say("tool_shell.rewritten", r.Rule, h.opts.Redact(tools.Clip(r.Before.Command, 4000)),
			r.Before.Cwd, tools.Number(r.Before.Timeout.Seconds()))
		b.Note = strings.TrimSuffix(text+"\n"+b.Note, "\n")
	}
	return b
}

// Shown is what post hooks see.
func (b Body) Shown() guard.Shown {
	return guard.Shown{Stdout: b.Stdout, Stderr: b.Stderr, Note: b.Note}
}

// WithShown returns the body with the hooks' texts.
func (b Body) WithShown(s guard.Shown) any {
	b.Stdout, b.Stderr, b.Note = s.Stdout, s.Stderr, s.Note
	return b
}

// Blank returns the body without what the command said.
func (b Body) Blank() any {
	b.Stdout, b.Stderr, b.Note = "", "", ""
	return b
}

// seconds is d with three decimals.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

package shell

import (
	"fmt"
	"strings"
	"time"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/tools"
)

// maxNamedPIDs bounds how many left-over processes the note names; background_pids has them all.
const maxNamedPIDs = 20

// note says what the figures alone do not: that a killed command did run, what an exit code means, what was left running.
func (h *handler) note(res executor.Result) string {
	cat := h.opts.Texts()
	var notes []string
	if killed := res.Status == executor.Timeout || res.Status == executor.Cancelled; killed && !res.Started.IsZero() {
		if res.Silent >= time.Second {
			notes = append(notes, cat.Say("tool_shell.did_run_silent", tools.Number(tenths(res.Silent))))
		} else {
			notes = append(notes, cat.Say("tool_shell.did_run"))
		}
	}
	if res.Status == executor.OK && res.ExitCode != nil && res.Signal == "" {
		if code, args := codeNote(*res.ExitCode); code != "" {
			notes = append(notes, cat.Say(code, args...))
		}
	}
	if n := len(res.LeftPIDs); n > 0 {
		named := strings.Trim(fmt.Sprint(res.LeftPIDs[:min(n, maxNamedPIDs)]), "[]")
		if n > maxNamedPIDs {
			named += " …"
		}
		notes = append(notes, cat.Say("tool_shell.left_running", named))
	}
	return strings.Join(notes, "\n")
}

// tenths is d in seconds with one decimal.
func tenths(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }

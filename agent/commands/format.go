package commands

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

// longRun is the duration from which on it is told, in seconds.
const longRun = 2

// ruleParse is the rule of a refusal because the shell could not read the text.
const ruleParse = "parse"

// outcome are the keys of run_command's result that people are shown.
type outcome struct {
	Success  bool    `json:"success"`
	Status   string  `json:"status"`
	Error    string  `json:"error"`
	Rule     string  `json:"rule"`
	ExitCode *int    `json:"exit_code"`
	Signal   string  `json:"signal"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Note     string  `json:"note"`
	Seconds  float64 `json:"duration_seconds"`
}

// FormatRun words a result of run_command for people: output, errors, exit code when it is not 0, notes, how long it
// took when that was long. Control characters in it are visible (channels.Printable).
func FormatRun(r tools.Result, say *texts.Catalog) string {
	var o outcome
	if err := json.Unmarshal(r.JSON(), &o); err != nil {
		return say.Say("commands.result_unreadable", err)
	}
	var parts []string
	add := func(s string) {
		if s = strings.TrimRight(s, "\r\n"); s != "" {
			parts = append(parts, channels.Printable(s))
		}
	}
	add(o.Stdout)
	if o.Rule == ruleParse {
		// Nothing ran: stderr and the exit code only repeat, for scripts, what the error says.
		o.Stderr, o.ExitCode = "", nil
	}
	if strings.TrimRight(o.Stderr, "\r\n") != "" {
		add(say.Say("commands.stderr"))
		add(o.Stderr)
	}
	if !o.Success {
		add(failure(o, say))
	}
	if o.ExitCode != nil && *o.ExitCode != 0 {
		add(exit(o, say))
	}
	add(o.Note)
	if o.Success && len(parts) == 0 {
		add(say.Say("commands.no_output"))
	}
	if o.Seconds >= longRun {
		add(say.Say("commands.took", fmt.Sprintf("%.1f", o.Seconds)))
	}
	return strings.Join(parts, "\n")
}

func failure(o outcome, say *texts.Catalog) string {
	text := o.Error
	if text == "" {
		text = say.Say("commands.failed", o.Status)
	}
	switch o.Rule {
	case "":
		return text
	case ruleParse:
		return say.Say("commands.unreadable", text)
	case "own_files", "own_commands", "own_process":
		return text + say.Say("commands.by_floor")
	}
	return text + say.Say("commands.by_rule", o.Rule)
}

func exit(o outcome, say *texts.Catalog) string {
	if o.Signal != "" {
		return say.Say("commands.exit_signal", *o.ExitCode, o.Signal)
	}
	return say.Say("commands.exit_code", *o.ExitCode)
}

package agent

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/llm"
)

// maxShown bounds a tool's main argument in a notice, in characters.
const maxShown = 200

// mainArguments are the arguments that say most about a call, the first that is there being shown.
var mainArguments = [...]string{"command", "path", "topics", "port", "name", "question", "intent", "intents"}

// toolLine is a call on one line: its name and its main argument.
func (t *turn) toolLine(call llm.ToolCall) string {
	return toolLine(call, t.agent.say("agent.list_comma"))
}

func toolLine(call llm.ToolCall, comma string) string {
	name, argument := oneLine(call.Name), ""
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(call.Arguments), &args) != nil {
		argument = call.Arguments
	}
	for _, key := range mainArguments {
		if raw, ok := args[key]; ok {
			argument = plain(raw, comma)
			break
		}
	}
	if argument = oneLine(argument); argument != "" {
		return name + " " + argument
	}
	return name
}

// plain is a JSON value as people write it: texts without quotes, lists with commas between.
func plain(raw json.RawMessage, comma string) string {
	var text string
	var list []string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &list) == nil:
		return strings.Join(list, comma)
	}
	return string(raw)
}

// oneLine makes a text that a model or a host wrote safe and short for a notice. Newlines are shown as ⏎.
func oneLine(s string) string {
	s = channels.RevealLine(strings.ReplaceAll(strings.TrimSpace(s), "\n", " ⏎ "))
	if runes := []rune(s); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return s
}

// resultLine is a result on one line: status, exit code when there is one, how long it took.
func (t *turn) resultLine(result string, took time.Duration) string {
	var r struct {
		Status   string `json:"status"`
		Error    string `json:"error"`
		ExitCode *int   `json:"exit_code"`
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		r.Status, r.Error = "internal", err.Error()
	}
	seconds := took.Round(10 * time.Millisecond).Seconds()
	switch {
	case r.ExitCode != nil:
		return t.agent.say("agent.tool_exit", r.Status, *r.ExitCode, seconds)
	case r.Error != "":
		return t.agent.say("agent.tool_error", r.Status, oneLine(r.Error), seconds)
	}
	return t.agent.say("agent.tool_done", r.Status, seconds)
}

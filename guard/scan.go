package guard

import (
	"regexp"
	"strings"
)

// scan judges text for a shell whose grammar we do not know, by what it mentions. That is less than parsing: it asks
// or denies whenever an own path or our own program stands anywhere in it.
func (t *text) scan(command string) Decision {
	for _, name := range t.binaries() {
		orders := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) +
			`(\.exe)?["']?\s+(.*\s)?(approvals|config|audit|scripts|exec|mcp|chat|serve|node)\b`)
		if orders.MatchString(command) {
			t.deny(RuleOwnCommands, "guard.own_command", name)
		}
		stops := regexp.MustCompile(`(?i)\b(taskkill|stop-process|kill|spps)\b.*\b(` + regexp.QuoteMeta(name) + `|` + t.pid() + `)\b`)
		if stops.MatchString(command) {
			t.deny(RuleOwnProcess, "guard.own_process")
		}
	}
	slashed := strings.ReplaceAll(command, "/", `\`)
	for _, s := range []string{command, slashed} {
		name, ok := t.mentioned(s)
		if !ok {
			continue
		}
		if onlyReads(command) {
			t.confirm("guard.own_read", name)
		} else {
			t.deny(RuleOwnFiles, "guard.own_mention", name)
		}
	}
	return t.found
}

// onlyReads reports a single command that does nothing but show a file.
func onlyReads(command string) bool {
	if strings.ContainsAny(command, "&|<>;\n%$`(") {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	switch strings.ToLower(first) {
	case "type", "more", "dir", "findstr", "fc", "get-content", "gc", "cat", "ls", "select-string", "get-filehash":
		return true
	}
	return false
}

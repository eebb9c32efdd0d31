package app

import "strings"

// quoteWord writes w so that cmd.exe and the program behind it read it as this one word. cmd.exe expands %NAME% inside
// quotes too and has no way to write a quote or a line break inside quotes that every program reads alike.
func quoteWord(w string) (string, error) {
	if strings.ContainsAny(w, "%\"\r\n\x00") {
		return "", usageError{id: "app.cannot_quote", args: []any{w}}
	}
	if w != "" && !strings.ContainsAny(w, " \t&|<>^()@!,;=") {
		return w, nil
	}
	tail := w[len(strings.TrimRight(w, `\`)):] // backslashes before the closing quote count double
	return `"` + w + tail + `"`, nil
}

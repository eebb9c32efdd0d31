package agent

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// loadPrompts reads the system prompt in each language.
func loadPrompts() (map[string]string, error) {
	out := map[string]string{}
	for _, lang := range []string{"en", "zh"} {
		text, err := promptFiles.ReadFile("prompts/system." + lang + ".md")
		if err != nil {
			return nil, fmt.Errorf("agent: prompt: %w", err)
		}
		out[lang] = strings.TrimSpace(string(text))
	}
	return out, nil
}

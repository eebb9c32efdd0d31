package agent

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// loadPrompts reads the prompts in each language; see prompt.
func loadPrompts() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range []string{"system", "summary"} {
		for _, lang := range []string{"en", "zh"} {
			text, err := promptFiles.ReadFile("prompts/" + name + "." + lang + ".md")
			if err != nil {
				return nil, fmt.Errorf("agent: prompt: %w", err)
			}
			out[name+"/"+lang] = strings.TrimSpace(string(text))
		}
	}
	return out, nil
}

// prompt is a prompt in the language in use.
func (a *Agent) prompt(name string) string { return a.prompts[name+"/"+a.opts.Texts().Lang()] }

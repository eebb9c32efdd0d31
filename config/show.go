package config

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// shown is one setting in the JSON form of Show.
type shown struct {
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}

// Show writes every setting with its value and where that comes from: as TOML with comments, or as one JSON object
// {"sources": [...], "settings": {"section.key": {"value": ..., "origin": ...}}}.
func (c *Config) Show(w io.Writer, asJSON bool) error {
	if asJSON {
		out := struct {
			Sources  []string         `json:"sources"`
			Settings map[string]shown `json:"settings"`
		}{append([]string{}, c.sources...), map[string]shown{}}
		for _, f := range fields() {
			out.Settings[f.key] = shown{c.value(f), c.origins[f.key]}
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(out)
	}
	section := ""
	for _, f := range fields() {
		if s := strings.TrimSuffix(f.key, f.name); s != section {
			section = s
			if _, err := fmt.Fprintf(w, "\n[%s]\n", strings.TrimSuffix(s, ".")); err != nil {
				return err
			}
		}
		line, err := toml.Marshal(map[string]any{f.name: c.value(f)})
		if err != nil {
			return fmt.Errorf("show %s: %w", f.key, err)
		}
		if _, err := fmt.Fprintf(w, "%-36s # %s\n", strings.TrimSpace(string(line)), c.origins[f.key]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) value(f field) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(f.index).Interface()
}

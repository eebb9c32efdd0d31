package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Change is one setting that differs between two configurations.
type Change struct {
	Key      string // "section.key"
	Old, New string // as JSON; hidden for a secret
	// Over is the variable ("MAISHELL_...") or "flag" that lies over the file's new value, which therefore has no effect;
	// empty: the new value is in force.
	Over    string
	Restart bool // the new value waits for a restart
}

// hidden stands for the value of a secret.
const hidden = "(hidden)"

// Changes lists the settings of c that differ from those of old, in the order of the file. A value in a file that
// something lies over is compared too.
func (c *Config) Changes(old *Config) []Change {
	var out []Change
	for _, f := range fields() {
		was, is := old.value(f), c.value(f)
		over := ""
		if reflect.DeepEqual(was, is) {
			var covered, before bool
			is, covered = c.beneath[f.key]
			was, before = old.beneath[f.key]
			if !covered || !before || reflect.DeepEqual(was, is) {
				continue
			}
			over = c.origins[f.key]
		}
		ch := Change{Key: f.key, Old: hidden, New: hidden, Over: over, Restart: f.restart}
		if !f.secret() {
			ch.Old, ch.New = asJSON(was), asJSON(is)
		}
		out = append(out, ch)
	}
	return out
}

// secret goes by the name, so that nobody has to remember to say it of a new setting: what ends in key, token, secret
// or password holds one; key_file or token_env only says where it is.
func (f field) secret() bool {
	switch f.name[strings.LastIndexByte(f.name, '_')+1:] {
	case "key", "token", "secret", "password":
		return true
	}
	return false
}

func asJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

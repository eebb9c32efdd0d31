package tools

import (
	"context"
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

// Visibility says whether a tool is always described to the model or only found through list_tools.
type Visibility int

// The two visibilities.
const (
	Discoverable Visibility = iota
	Essential
)

// String returns discoverable or essential.
func (v Visibility) String() string {
	if v == Essential {
		return "essential"
	}
	return "discoverable"
}

// nameForm is what a tool may be called.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Tool is one thing the agent can do. Made by Define; a Tool that was not is refused by Registry.Add.
type Tool struct {
	Name        string     // a lower-case letter, then up to 63 of a-z, 0-9 and _
	Role        roles.Role // least role that sees and calls it; the zero value lets nobody
	Visibility  Visibility
	Effects     []guard.Effect           // none stated: execute
	Description func(lang string) string // for models; its first line is the summary
	Schema      *jsonschema.Schema       // set by Define
	// Aliases maps argument names that other agents use to ours, for the error text only. An empty value says
	// that there is no such thing here.
	Aliases map[string]string
	// Refused gives the body of a result when nothing ran, so that a tool's keys are there in every answer. Of
	// a call that did not get as far as a plan the action has no more than Args, as they were given. May be nil.
	Refused func(a guard.Action, r *guard.Refusal) any

	parameters json.RawMessage
	plan       func(ctx context.Context, args any) (guard.Action, error)
	run        func(ctx context.Context, args any, a guard.Action) (Result, error)
	decode     func(raw json.RawMessage) (args any, normal json.RawMessage, err error)
}

// Parameters is the schema as JSON text, as a model is told it. The caller must not change it.
func (t Tool) Parameters() json.RawMessage { return t.parameters }

// Summary is the first line of the description.
func (t Tool) Summary(lang string) string {
	line, _, _ := strings.Cut(t.Description(lang), "\n")
	return line
}

// effects are the stated effects; a tool that states none counts as execute.
func (t Tool) effects() []guard.Effect {
	if len(t.Effects) == 0 {
		return []guard.Effect{guard.Execute}
	}
	return t.Effects
}

// Text reads the descriptions NAME.en.md and NAME.zh.md from fsys. A file that is missing gives an empty text, which
// Define refuses; a language other than these two gives the English one.
func Text(fsys fs.FS, name string) func(lang string) string {
	read := func(lang string) string {
		b, err := fs.ReadFile(fsys, name+"."+lang+".md")
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	en, zh := read("en"), read("zh")
	return func(lang string) string {
		if lang == "zh" {
			return zh
		}
		return en
	}
}

// Call is one request to run a tool.
type Call struct {
	// Origin may be left zero: the view's own is used. One that differs from the view's is refused.
	Origin session.Origin
	Name   string
	Args   json.RawMessage // a JSON object; empty means {}
	// Live is called when the effect has begun and may be looked at: peek gives the end of what it printed so far, filtered.
	// It is not called where a hook wants to see the output first. nil: nobody looks.
	Live func(peek func() string)
}

package meta

import (
	"context"
	"embed"
	"encoding/json"
	"errors"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

//go:embed *.md
var docs embed.FS

// Options are what the tools work with. The zero value is valid.
type Options struct {
	Texts func() *texts.Catalog // for the language of the descriptions; nil: English
}

// errNoView cannot happen inside the pipeline.
var errNoView = errors.New("called outside the pipeline")

// entry is one tool of the list.
type entry struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

// list is the body of list_tools.
type list struct {
	Tools []entry `json:"tools"`
}

// description is the body of get_tool_schema.
type description struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// New makes list_tools and get_tool_schema.
func New(o Options) ([]tools.Tool, error) {
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	listTools, err := newList(o)
	if err != nil {
		return nil, err
	}
	getSchema, err := newSchema(o)
	if err != nil {
		return nil, err
	}
	return []tools.Tool{listTools, getSchema}, nil
}

func newList(o Options) (tools.Tool, error) {
	return tools.Define(tools.Tool{
		Name:        "list_tools",
		Role:        roles.Guest,
		Visibility:  tools.Essential,
		Effects:     []guard.Effect{guard.Read},
		Description: tools.Text(docs, "list_tools"),
	}, nil, func(ctx context.Context, _ struct{}, _ guard.Action) (tools.Result, error) {
		view, ok := tools.FromContext(ctx)
		if !ok {
			return tools.Result{}, errNoView
		}
		body := list{Tools: []entry{}}
		for _, t := range view.List() {
			if t.Visibility == tools.Discoverable {
				body.Tools = append(body.Tools, entry{Name: t.Name, Summary: t.Summary(o.Texts().Lang())})
			}
		}
		return tools.Result{Body: body}, nil
	})
}

type schemaArgs struct {
	Name string `json:"name" jsonschema:"name of the tool, from list_tools"`
}

func newSchema(o Options) (tools.Tool, error) {
	return tools.Define(tools.Tool{
		Name:        "get_tool_schema",
		Role:        roles.Guest,
		Visibility:  tools.Essential,
		Effects:     []guard.Effect{guard.Read},
		Description: tools.Text(docs, "get_tool_schema"),
		Aliases:     map[string]string{"tool": "name", "tool_name": "name"},
	}, nil, func(ctx context.Context, a schemaArgs, _ guard.Action) (tools.Result, error) {
		view, ok := tools.FromContext(ctx)
		if !ok {
			return tools.Result{}, errNoView
		}
		t, err := view.Find(a.Name)
		if err != nil {
			return tools.Result{}, err
		}
		if t.Visibility != tools.Discoverable {
			return tools.Result{}, tools.Invalid("tool_meta.not_discoverable", t.Name)
		}
		return tools.Result{Body: description{Name: t.Name, Description: t.Description(o.Texts().Lang()), Parameters: t.Parameters()}}, nil
	})
}

package subagent

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maishell/maishell/agent"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

//go:embed prompts/*.md
var promptFiles embed.FS

//go:embed *.md
var docs embed.FS

// The names of the tools.
const (
	AskOne     = "ask_subagent"
	AskSeveral = "ask_subagents"
)

// never are the tools that talk to the person or start agents.
var never = [...]string{agent.AskUser, AskOne, AskSeveral}

// Settings bound sub-agents. A zero value is the default.
type Settings struct {
	MaxRounds      int           // model calls of one; 10
	MaxResultChars int           // of its answer; 8,000
	MaxParallel    int           // of one session at the same time; also the most that one ask_subagents may ask for; 3
	ParallelTools  int           // tool calls of one round at once; 4
	ContextTokens  int           // of its conversation; 50,000
	ModelTimeout   time.Duration // of one model call; 240 s
}

func (s Settings) withDefaults() Settings {
	for _, f := range []struct {
		value *int
		def   int
	}{{&s.MaxRounds, 10}, {&s.MaxResultChars, 8000}, {&s.MaxParallel, 3}, {&s.ParallelTools, 4}, {&s.ContextTokens, 50_000}} {
		if *f.value < 1 {
			*f.value = f.def
		}
	}
	if s.ModelTimeout <= 0 {
		s.ModelTimeout = 240 * time.Second
	}
	return s
}

// Options are what the tools work with. Model and Registry are required.
type Options struct {
	Model    llm.Model
	Registry *tools.Registry // from which sub-agents get their tools
	Settings func() Settings // asked at every call; nil: the defaults
	Texts    func() *texts.Catalog
	Logger   *slog.Logger
}

type oneArgs struct {
	Intent string   `json:"intent" jsonschema:"what to find out or do, with everything the sub-agent must know: it sees nothing of this conversation"`
	Tools  []string `json:"tools,omitempty" jsonschema:"names of the tools it may use; empty: all it can have"`
}

type severalArgs struct {
	Intents []string `json:"intents" jsonschema:"one intent for each sub-agent; they work at the same time and know nothing of each other"`
}

// oneBody is the body of ask_subagent's result, beside success, status and error.
type oneBody struct {
	Answer           string `json:"answer"`
	Rounds           int    `json:"rounds"`
	MaxRoundsReached bool   `json:"max_rounds_reached"`
}

// severalBody is that of ask_subagents: the answers in the order of the intents.
type severalBody struct {
	Answers     []string `json:"answers"`
	TotalRounds int      `json:"total_rounds"`
}

type handler struct {
	opts    Options
	prompts map[string]string // by language
	gate    *gate
}

// New makes ask_subagent and ask_subagents.
func New(o Options) ([]tools.Tool, error) {
	if o.Model == nil || o.Registry == nil {
		return nil, errors.New("subagent: a model and a registry are needed")
	}
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &handler{opts: o, prompts: map[string]string{}, gate: newGate()}
	for _, lang := range []string{"en", "zh"} {
		text, err := promptFiles.ReadFile("prompts/subagent." + lang + ".md")
		if err != nil {
			return nil, err
		}
		h.prompts[lang] = strings.TrimSpace(string(text))
	}
	spec := func(name string) tools.Tool {
		// Reading, by itself: whatever a sub-agent does passes the door on its own.
		return tools.Tool{Name: name, Role: roles.User, Description: tools.Text(docs, name)}
	}
	one, err := tools.DefineReading(spec(AskOne), h.one)
	if err != nil {
		return nil, err
	}
	several, err := tools.DefineReading(spec(AskSeveral), h.several)
	if err != nil {
		return nil, err
	}
	return []tools.Tool{one, several}, nil
}

func (h *handler) one(ctx context.Context, a oneArgs) (tools.Result, error) {
	if strings.TrimSpace(a.Intent) == "" {
		return tools.Result{}, tools.Invalid("subagent.no_intent")
	}
	c, err := h.child(ctx, a.Tools)
	if err != nil {
		return tools.Result{}, err
	}
	r := c.run(ctx, a.Intent)
	return result([]end{r}, oneBody{Answer: r.answer, Rounds: r.rounds, MaxRoundsReached: r.limited}), nil
}

func (h *handler) several(ctx context.Context, a severalArgs) (tools.Result, error) {
	limit := h.opts.Settings().withDefaults().MaxParallel
	switch {
	case len(a.Intents) == 0:
		return tools.Result{}, tools.Invalid("subagent.no_intents")
	case len(a.Intents) > limit:
		return tools.Result{}, tools.Invalid("subagent.too_many", len(a.Intents), limit)
	case slices.ContainsFunc(a.Intents, func(s string) bool { return strings.TrimSpace(s) == "" }):
		return tools.Result{}, tools.Invalid("subagent.no_intent")
	}
	ends := make([]end, len(a.Intents))
	var all sync.WaitGroup
	for i, intent := range a.Intents {
		c, err := h.child(ctx, nil)
		if err != nil {
			return tools.Result{}, err
		}
		all.Go(func() { ends[i] = c.run(ctx, intent) })
	}
	all.Wait()
	body := severalBody{Answers: []string{}}
	for _, r := range ends {
		body.Answers = append(body.Answers, r.answer)
		body.TotalRounds += r.rounds
	}
	return result(ends, body), nil
}

// result is the result of a call, which failed when one of its sub-agents did.
func result(ends []end, body any) tools.Result {
	res := tools.Result{ErrorAlways: true, Body: body}
	var failures []string
	for _, r := range ends {
		switch {
		case r.cancelled:
			failures = append(failures, "cancelled")
			res.Status = tools.StatusCancelled
		case r.err != nil:
			failures = append(failures, r.words)
			res.Status = tools.StatusInternal
		}
	}
	res.Error = strings.Join(failures, "; ")
	return res
}

// child is a sub-agent of the call that ctx belongs to. An empty list of names is every tool it can have.
func (h *handler) child(ctx context.Context, names []string) (*child, error) {
	parent, ok := session.FromContext(ctx)
	if !ok {
		return nil, errors.New("subagent: called outside the pipeline")
	}
	origin := session.Child(parent)
	can := h.opts.Registry.View(origin, tools.Narrow(), tools.Keep(func(name string) bool { return !slices.Contains(never[:], name) }))
	var bad []string
	for _, name := range names {
		if _, err := can.Find(name); err != nil {
			bad = append(bad, tools.Clip(name, 80))
		}
	}
	if len(bad) > 0 {
		return nil, tools.Invalid("subagent.bad_tools", strings.Join(bad, ", "))
	}
	allowed := func(name string) bool {
		return !slices.Contains(never[:], name) && (len(names) == 0 || slices.Contains(names, name))
	}
	return &child{
		handler: h, origin: origin, view: h.opts.Registry.View(origin, tools.Narrow(), tools.Keep(allowed)),
		limits: h.opts.Settings().withDefaults(),
	}, nil
}

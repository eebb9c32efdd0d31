package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/maishell/maishell/agent/commands"
	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// allow is a decider without objections.
type allow struct{}

func (allow) Decide(context.Context, guard.Action) (guard.Decision, error) {
	return guard.Decision{Verdict: guard.Allow}, nil
}

// records is an audit sink in memory.
type records struct{}

func (records) Append(_ context.Context, r audit.Record) (audit.Record, error) { return r, nil }

// door is a real guard that lets everything through.
func door(t testing.TB, role func(session.Origin) roles.Role) tools.Door {
	t.Helper()
	g, err := guard.New(guard.Options{Deciders: []guard.Decider{allow{}}, Sink: records{}, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// script is a model that gives the next of its answers, each a function of the request.
type script struct {
	mu      sync.Mutex
	steps   []func(llm.Request) (llm.Message, error)
	request []llm.Request // what it was asked
	// summary answers requests for a summary; nil: they take a step as all do.
	summary   func(llm.Request) (llm.Message, error)
	summaries []llm.Request
}

func (*script) Name() string { return "script" }

func (s *script) Complete(ctx context.Context, r llm.Request, _ func(string)) (llm.Message, error) {
	s.mu.Lock()
	if r.MaxTokens > 0 && s.summary != nil {
		s.summaries = append(s.summaries, r)
		s.mu.Unlock()
		return s.summary(r)
	}
	s.request = append(s.request, r)
	if len(s.steps) == 0 {
		s.mu.Unlock()
		return llm.Message{}, errors.New("the script has ended")
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	return step(r)
}

func says(text string) func(llm.Request) (llm.Message, error) {
	return func(llm.Request) (llm.Message, error) { return llm.Message{Role: "assistant", Content: text}, nil }
}

func calls(c ...llm.ToolCall) func(llm.Request) (llm.Message, error) {
	return func(llm.Request) (llm.Message, error) { return llm.Message{ToolCalls: c}, nil }
}

// screen is a sink that remembers.
type screen struct {
	mu      sync.Mutex
	replies []string
	notices []string
	err     error
}

func (s *screen) Reply(_ context.Context, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, text)
	return s.err
}

func (s *screen) Notice(_ context.Context, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, text)
	return s.err
}

func english(t testing.TB) *texts.Catalog {
	t.Helper()
	c, err := texts.New("en")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bench is an agent with two tools: echo (user) gives back its text, boom (admin) runs what the test says.
type bench struct {
	*Agent
	model   *script
	out     *screen
	role    roles.Role
	lowered bool
	guests  string
	limits  Limits
	kept    History
	boom    func(ctx context.Context) (tools.Result, error)
	log     bytes.Buffer
}

type echoArgs struct {
	Text string `json:"text"`
}

func newBench(t testing.TB, steps ...func(llm.Request) (llm.Message, error)) *bench {
	t.Helper()
	say := english(t)
	b := &bench{model: &script{steps: steps}, out: &screen{}, role: roles.Admin, limits: Limits{Rounds: 5}}
	b.boom = func(context.Context) (tools.Result, error) {
		return tools.Result{Body: map[string]any{"exit_code": 3}}, nil
	}
	current := func() *texts.Catalog { return say }
	role := func(session.Origin) roles.Role { return b.role }
	registry := tools.NewRegistry(tools.Options{Guard: door(t, role), Role: role, Texts: current})
	about := func(string) string { return "a tool" }
	echo, err := tools.Define(tools.Tool{Name: "echo", Role: roles.User, Effects: []guard.Effect{guard.Read}, Description: about}, nil,
		func(_ context.Context, a echoArgs, _ guard.Action) (tools.Result, error) {
			return tools.Result{Body: map[string]any{"echo": a.Text}}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	boom, err := tools.Define(tools.Tool{Name: "boom", Role: roles.Admin, Description: about}, nil,
		func(ctx context.Context, _ struct{}, _ guard.Action) (tools.Result, error) { return b.boom(ctx) })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(registry.Add(echo), registry.Add(boom)); err != nil {
		t.Fatal(err)
	}
	resolve := func(roles.Caller) roles.Resolution { return roles.Resolution{Role: b.role, Lowered: b.lowered} }
	table, err := commands.New(commands.Options{Tools: registry, Texts: current, Role: role, Resolve: resolve})
	if err != nil {
		t.Fatal(err)
	}
	b.Agent, err = New(Options{
		Model: b.model, Tools: registry, Commands: table, Texts: current, Role: role, Resolve: resolve,
		Guests: func() string { return b.guests }, Limits: func() Limits { return b.limits }, History: b.kept,
		Logger: slog.New(slog.NewTextHandler(&b.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func message(text string) channels.Message {
	return channels.Message{Text: text, Origin: session.Origin{
		Caller: roles.Caller{Platform: "qq", UserID: "1"}, Session: "s1", Channel: "terminal",
	}}
}

// history is the last request without the system prompt, one entry per line.
func (b *bench) history() string {
	var lines []string
	for _, m := range b.model.request[len(b.model.request)-1].Messages[1:] {
		line := m.Role + " " + m.Content
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf("[%s %s %s]", c.ID, c.Name, c.Arguments)
		}
		if m.ToolCallID != "" {
			line = m.Role + "(" + m.ToolCallID + ") " + m.Content
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

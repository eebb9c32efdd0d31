package subagent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/maishell/maishell/agent"
	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/llm/llmtest"
	"github.com/maishell/maishell/llm/openai"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/meta"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type allow struct{}

func (allow) Decide(context.Context, guard.Action) (guard.Decision, error) {
	return guard.Decision{Verdict: guard.Allow}, nil
}

// trail is an audit sink in memory.
type trail struct {
	mu  sync.Mutex
	all []audit.Record
}

func (s *trail) Append(_ context.Context, r audit.Record) (audit.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
	return r, nil
}

// bench has the sub-agents' tools, a run_command that must never run, a relay that calls any tool for its caller, and a
// model behind a real service.
type bench struct {
	view     *tools.View
	registry *tools.Registry
	server   *llmtest.Server
	trail    trail
	settings Settings
	ran      []string
	origins  []session.Origin
	mu       sync.Mutex
	look     func(ctx context.Context) error
}

type textArgs struct {
	Text string `json:"text"`
}

func parent() session.Origin {
	return session.Origin{Caller: roles.Caller{Platform: "qq", UserID: "1"}, Session: "parent", Channel: "onebot"}
}

func newBench(t *testing.T, role roles.Role, steps ...llmtest.Step) *bench {
	t.Helper()
	b := &bench{server: llmtest.New(steps...)}
	t.Cleanup(b.server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	model, err := openai.New(openai.Options{BaseURL: b.server.URL, Model: "m", HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	say, err := texts.New("en")
	if err != nil {
		t.Fatal(err)
	}
	current := func() *texts.Catalog { return say }
	now := func(o session.Origin) roles.Role {
		return session.Effective(o, func(roles.Caller) roles.Role { return role })
	}
	door, err := guard.New(guard.Options{Deciders: []guard.Decider{allow{}}, Sink: &b.trail, Role: now})
	if err != nil {
		t.Fatal(err)
	}
	registry := tools.NewRegistry(tools.Options{Guard: door, Role: now, Texts: current})
	about := func(string) string { return "a tool" }
	run, err := tools.Define(tools.Tool{Name: "run_command", Role: roles.Admin, Description: about}, nil,
		func(_ context.Context, a textArgs, _ guard.Action) (tools.Result, error) {
			b.ran = append(b.ran, a.Text)
			return tools.Result{}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	look, err := tools.Define(tools.Tool{Name: "look", Role: roles.User, Effects: []guard.Effect{guard.Read}, Description: about}, nil,
		func(ctx context.Context, a textArgs, _ guard.Action) (tools.Result, error) {
			o, _ := session.FromContext(ctx)
			b.mu.Lock()
			b.origins = append(b.origins, o)
			b.mu.Unlock()
			if b.look != nil {
				return tools.Result{}, b.look(ctx)
			}
			return tools.Result{Body: map[string]any{"seen": a.Text}}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	relay, err := tools.Define(tools.Tool{Name: "relay", Role: roles.User, Effects: []guard.Effect{guard.Read}, Description: about}, nil,
		func(ctx context.Context, a textArgs, _ guard.Action) (tools.Result, error) {
			v, _ := tools.FromContext(ctx)
			return v.Invoke(ctx, tools.Call{Name: a.Text, Args: json.RawMessage(`{"text":"relayed"}`)}), nil
		})
	if err != nil {
		t.Fatal(err)
	}
	// A tool that says it only reads, and plans to execute.
	sly, err := tools.Define(tools.Tool{Name: "sly", Role: roles.User, Effects: []guard.Effect{guard.Read}, Description: about},
		func(context.Context, textArgs) (guard.Action, error) {
			return guard.Action{Command: "id", Effects: []guard.Effect{guard.Execute}}, nil
		},
		func(_ context.Context, a textArgs, _ guard.Action) (tools.Result, error) {
			b.ran = append(b.ran, a.Text)
			return tools.Result{}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	ask, err := agent.AskTool()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := New(Options{Model: model, Registry: registry, Texts: current, Settings: func() Settings { return b.settings }})
	if err != nil {
		t.Fatal(err)
	}
	listing, err := meta.New(meta.Options{Texts: current})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range append(append([]tools.Tool{run, look, relay, sly, ask}, listing...), ours...) {
		if err := registry.Add(tool); err != nil {
			t.Fatal(err)
		}
	}
	b.registry, b.view = registry, registry.View(parent())
	return b
}

func (b *bench) ask(ctx context.Context, name, args string) string {
	return string(b.view.Invoke(ctx, tools.Call{Name: name, Args: json.RawMessage(args)}).JSON())
}

func call(name, text string) llmtest.Call {
	args, _ := json.Marshal(textArgs{text})
	return llmtest.Call{Name: name, Arguments: string(args)}
}

func TestResults(t *testing.T) {
	t.Parallel()
	again := llmtest.Step{Text: "still looking", Calls: []llmtest.Call{call("look", "x")}}
	for name, c := range map[string]struct {
		steps    []llmtest.Step
		settings Settings
		tool     string
		args     string
		want     string
	}{
		"direct": {[]llmtest.Step{{Text: "42"}}, Settings{}, AskOne, `{"intent":"q"}`,
			`{"success":true,"status":"ok","error":null,"answer":"42","rounds":1,"max_rounds_reached":false}`},
		"after a call": {[]llmtest.Step{{Calls: []llmtest.Call{call("look", "a"), call("look", "b")}}, {Expect: `"seen":"b"`, Text: "done"}}, Settings{}, AskOne, `{"intent":"q","tools":["look"]}`,
			`{"success":true,"status":"ok","error":null,"answer":"done","rounds":2,"max_rounds_reached":false}`},
		"one tool by name": {[]llmtest.Step{{Text: "42"}}, Settings{}, AskOne, `{"intent":"q","tools":"look"}`,
			`{"success":true,"status":"ok","error":null,"answer":"42","rounds":1,"max_rounds_reached":false}`},
		"one bad tool by name": {nil, Settings{}, AskOne, `{"intent":"q","tools":"run_command"}`,
			`{"success":false,"status":"invalid_argument","error":"invalid tools: run_command"}`},
		"limit": {[]llmtest.Step{again, again, again}, Settings{MaxRounds: 2}, AskOne, `{"intent":"q"}`,
			`{"success":true,"status":"ok","error":null,"answer":"still looking","rounds":2,"max_rounds_reached":true}`},
		"model error": {[]llmtest.Step{{Status: 400, Body: `{"error":{"message":"no"}}`}}, Settings{}, AskOne, `{"intent":"q"}`,
			`{"success":false,"status":"internal","error":"the service answered 400: no","answer":"","rounds":0,"max_rounds_reached":false}`},
		"too long an answer": {[]llmtest.Step{{Text: strings.Repeat("世", 200)}}, Settings{MaxResultChars: 100}, AskOne, `{"intent":"q"}`,
			`{"success":true,"status":"ok","error":null,"answer":"` + strings.Repeat("世", 100) + `… (cut off)","rounds":1,"max_rounds_reached":false}`},
		"a tool fails": {[]llmtest.Step{{Calls: []llmtest.Call{{Name: "look", Arguments: `{"text":`}}}, {Expect: "invalid_argument", Text: "ok"}}, Settings{}, AskOne, `{"intent":"q"}`,
			`{"success":true,"status":"ok","error":null,"answer":"ok","rounds":2,"max_rounds_reached":false}`},
		"too long a conversation": {[]llmtest.Step{{Calls: []llmtest.Call{call("look", "a")}}, {Status: 400, Body: `{"error":{"message":"x","code":"context_length_exceeded"}}`}, {Text: "short"}}, Settings{}, AskOne, `{"intent":"q"}`,
			`{"success":true,"status":"ok","error":null,"answer":"short","rounds":2,"max_rounds_reached":false}`},
		"no intent": {nil, Settings{}, AskOne, `{"intent":" "}`, `{"success":false,"status":"invalid_argument","error":"missing argument: intent"}`},
		"bad tools": {nil, Settings{}, AskOne, `{"intent":"q","tools":["look","run_command","nope","ask_user","ask_subagent"]}`,
			`{"success":false,"status":"invalid_argument","error":"invalid tools: run_command, nope, ask_user, ask_subagent"}`},
		"several": {[]llmtest.Step{{Text: "same"}, {Text: "same"}}, Settings{}, AskSeveral, `{"intents":["a","b"]}`,
			`{"success":true,"status":"ok","error":null,"answers":["same","same"],"total_rounds":2}`},
		"several fail": {[]llmtest.Step{{Status: 400}, {Status: 400}}, Settings{}, AskSeveral, `{"intents":["a","b"]}`,
			`{"success":false,"status":"internal","error":"the service answered 400: ; the service answered 400: ","answers":["",""],"total_rounds":0}`},
		"none":     {nil, Settings{}, AskSeveral, `{"intents":[]}`, `{"success":false,"status":"invalid_argument","error":"intents: must not be empty"}`},
		"too many": {nil, Settings{MaxParallel: 2}, AskSeveral, `{"intents":["a","b","c"]}`, `{"success":false,"status":"invalid_argument","error":"intents: 3 are too many, at most 2 at once"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, roles.User, c.steps...)
			b.settings = c.settings
			if got := b.ask(t.Context(), c.tool, c.args); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNoCommands holds that no way leads from a sub-agent to run_command, although the person may run it.
func TestNoCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t, roles.Admin,
		llmtest.Step{Calls: []llmtest.Call{
			call("run_command", "by name"), call("relay", "run_command"), call("sly", "by plan"), {Name: "list_tools"},
			{Name: "get_tool_schema", Arguments: `{"name":"run_command"}`}, call("relay", AskOne), call("ask_user", "x"), {Name: AskSeveral, Arguments: `{"intents":["x"]}`},
		}}, llmtest.Step{Text: "done"})
	if got := b.ask(t.Context(), AskOne, `{"intent":"q"}`); !strings.Contains(got, `"answer":"done"`) {
		t.Fatal(got)
	}
	if len(b.ran) != 0 {
		t.Fatalf("ran %q", b.ran)
	}
	seen := b.server.Seen()
	var offered []string
	for _, tool := range seen[0].Tools {
		offered = append(offered, tool.Function.Name)
	}
	if want := []string{"look", "relay", "sly", "list_tools", "get_tool_schema"}; !slices.Equal(offered, want) {
		t.Errorf("offered %q, want %q", offered, want)
	}
	answers := seen[1].Messages[3:]
	for i, want := range []string{
		"tool not in allowed set: run_command", `"success":false`, "permission_denied", `"name":"look"`,
		`"success":false`, `"success":false`, "tool not in allowed set: ask_user", "tool not in allowed set: ask_subagents",
	} {
		if !strings.Contains(answers[i].Content, want) || i == 3 && strings.Contains(answers[i].Content, "run_command") {
			t.Errorf("answer %d: %s, want %s", i, answers[i].Content, want)
		}
	}
	refused := 0
	for _, r := range b.trail.all {
		if r.Tool == "run_command" && r.Verdict == "deny" && r.Parent == "parent" {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d refusals of run_command recorded, want 2: %+v", refused, b.trail.all)
	}
}

func TestOriginIsInherited(t *testing.T) {
	t.Parallel()
	b := newBench(t, roles.User, llmtest.Step{Calls: []llmtest.Call{call("look", "x")}}, llmtest.Step{Text: "done"})
	b.ask(t.Context(), AskOne, `{"intent":"q"}`)
	o := b.origins[0]
	if o.Parent != "parent" || o.Session == "parent" || o.Caller != parent().Caller || o.Channel != "onebot" {
		t.Errorf("origin %+v", o)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]llmtest.Step{
		"in a tool":    {{Calls: []llmtest.Call{call("look", "x")}}},
		"in the model": {{Calls: []llmtest.Call{call("look", "x")}}, {Wait: make(chan struct{})}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, roles.User, steps...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b.look = func(inner context.Context) error {
				if len(steps) == 1 {
					cancel()
					<-inner.Done() // the child's tools end with the turn
					return inner.Err()
				}
				go func() {
					for len(b.server.Seen()) < 2 && ctx.Err() == nil {
						runtime.Gosched()
					}
					cancel()
				}()
				return nil
			}
			want := fmt.Sprintf(`"status":"cancelled","error":"cancelled","answer":"","rounds":%d`, 1)
			if got := b.ask(ctx, AskOne, `{"intent":"q"}`); !strings.Contains(got, want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// However they are asked for, only so many of one session work at the same time.
func TestParallelIsBoundedPerSession(t *testing.T) {
	t.Parallel()
	var steps []llmtest.Step
	for range 12 { // each asks for a look, then answers
		steps = append(steps, llmtest.Step{Calls: []llmtest.Call{call("look", "x")}})
	}
	for range 12 {
		steps = append(steps, llmtest.Step{Text: "done"})
	}
	b := newBench(t, roles.User, steps...)
	b.settings = Settings{MaxParallel: 3}
	var now, most, asked int
	opened := false
	arrived := make(chan struct{})
	b.look = func(ctx context.Context) error {
		b.mu.Lock()
		now++
		most = max(most, now)
		third := now == 3 && !opened
		opened = opened || third
		b.mu.Unlock()
		if third { // while three are held, no fourth may so much as ask the model
			for begun := time.Now(); len(b.server.Seen()) < 4 && time.Since(begun) < 100*time.Millisecond; {
				runtime.Gosched()
			}
			asked = len(b.server.Seen())
			close(arrived)
		}
		select { // the first ones wait for as many as may come
		case <-arrived:
		case <-ctx.Done():
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		now--
		return nil
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { b.ask(t.Context(), AskSeveral, `{"intents":["a","b","c"]}`) })
	}
	all.Wait()
	if most != 3 || asked != 3 {
		t.Errorf("%d at once, %d had asked the model", most, asked)
	}
	g := newGate()
	if !g.enter(t.Context(), "s", 1) || !g.enter(t.Context(), "other", 1) {
		t.Fatal("an empty gate is shut")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if g.enter(ctx, "s", 1) || g.enter(ctx, "new", 1) {
		t.Error("entered after the end of the turn")
	}
	g.leave("s")
	g.leave("other")
	if len(g.inside) != 0 {
		t.Errorf("left behind: %v", g.inside)
	}
}

// What a sub-agent's conversation had to lose is said where it stood, once.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	c := &child{handler: &handler{opts: Options{Texts: func() *texts.Catalog { return nil }}}}
	messages := []llm.Message{{Role: "system", Content: "prompt"}, {Role: "user", Content: "intent"}}
	for i := range 30 {
		id := fmt.Sprint(i)
		messages = append(messages, llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: id, Name: "look"}}},
			llm.Message{Role: "tool", ToolCallID: id, Content: strings.Repeat("x", 500)})
		messages = c.shorten(messages, 1000)
		if n := llm.Estimate(messages...); n > 1100 {
			t.Fatalf("round %d: %d tokens", i, n)
		}
	}
	marks := 0
	for _, m := range messages {
		if strings.Contains(m.Content, "subagent.left_out") {
			marks++
		}
	}
	if marks != 1 || messages[1].Content != "intent" || !strings.Contains(messages[2].Content, "subagent.left_out") {
		t.Errorf("%d marks: %+v", marks, messages[:3])
	}
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
)

func TestGuests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role   roles.Role
		guests string
		text   string
		reply  string // empty: none
		model  int
	}{
		{roles.Guest, "help", "hello", "I work for the admins", 0},
		{roles.Guest, "", "hello", "I work for the admins", 0},
		{roles.Guest, "ignore", "hello", "", 0},
		{roles.Guest, "chat", "hello", "hi", 1},
		{roles.User, "ignore", "hello", "hi", 1},
		{roles.None, "chat", "hello", "", 0},
		{roles.None, "help", "/help", "", 0},
		{roles.Guest, "ignore", "/whoami", "qq:1", 0},
		{roles.Guest, "ignore", "/run id", "", 0},
		{roles.Guest, "ignore", "/nonsense", "", 0},
		{roles.Guest, "help", "/nonsense", "no command /nonsense", 0},
		{roles.Guest, "chat", "/status", "role user and above", 0},
		{roles.Guest, "chat", "/etc/passwd 是什么", "hi", 1},
		{roles.Admin, "help", " \n ", "", 0},
	} {
		b := newBench(t, says("hi"))
		b.role, b.guests = c.role, c.guests
		err := b.Handle(t.Context(), message(c.text), b.out)
		got := strings.Join(b.out.replies, "|")
		if err != nil || (c.reply == "") != (got == "") || !strings.Contains(got, c.reply) || len(b.model.request) != c.model {
			t.Errorf("%v with guests=%q: %q: err %v, replies %q, %d model calls", c.role, c.guests, c.text, err, got, len(b.model.request))
		}
	}
}

func TestToolsFollowTheRole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	demote := func(llm.Request) (llm.Message, error) {
		b.role = roles.User
		return llm.Message{ToolCalls: []llm.ToolCall{{ID: "a", Name: "boom"}}}, nil
	}
	b.boom = func(context.Context) (tools.Result, error) {
		t.Error("ran after the demotion")
		return tools.Result{}, nil
	}
	b.model.steps = []func(llm.Request) (llm.Message, error){demote, says("done")}
	if err := b.Handle(t.Context(), message("go"), b.out); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"echo", "boom"}, {"echo"}} {
		var names []string
		for _, s := range b.model.request[i].Tools {
			names = append(names, s.Name)
			if !json.Valid(s.Parameters) || s.Description == "" {
				t.Errorf("spec %+v", s)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("round %d: %v, want %v", i+1, names, want)
		}
	}
	if !strings.Contains(b.history(), `"status":"permission_denied"`) {
		t.Errorf("history:\n%s", b.history())
	}
}

func TestLoweredIsToldOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("1"), says("2"), says("3"))
	b.role, b.lowered = roles.User, true
	other := message("hello")
	other.Origin.Session = "s2"
	for _, m := range []channels.Message{message("hello"), message("hello"), other} {
		if err := b.Handle(t.Context(), m, b.out); err != nil {
			t.Fatal(err)
		}
	}
	told := b.say("agent.lowered")
	if !slices.Equal(b.out.replies, []string{told, "1", "2", told, "3"}) {
		t.Errorf("replies %q", b.out.replies)
	}
}

func TestQuitAndSinkErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("x"))
	if err := b.Handle(t.Context(), message("/quit"), b.out); !errors.Is(err, channels.ErrQuit) {
		t.Errorf("quit: %v", err)
	}
	b.out.err = errors.New("gone")
	if err := b.Handle(t.Context(), message("hello"), b.out); !errors.Is(err, b.out.err) {
		t.Errorf("broken sink: %v", err)
	}
	if _, err := New(Options{}); err == nil {
		t.Error("an agent without a model")
	}
	bare, err := New(Options{Model: b.model})
	if err != nil || bare.Handle(t.Context(), message("hello"), b.out) != nil {
		t.Errorf("a bare agent answers nobody: %v", err)
	}
}

// What a chat command did on the host is known to the next turn, once, as data.
func TestCommandsAreNoted(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("one"), says("two"))
	for _, text := range []string{"/whoami", "/run df </data>", "what does that mean?", "and?"} {
		if err := b.Handle(t.Context(), message(text), b.out); err != nil {
			t.Fatal(err)
		}
	}
	first := b.model.request[0].Messages[1:]
	if len(first) != 3 || first[0].Content != "/run df </data>" || first[1].Role != "assistant" || first[2].Content != "what does that mean?" {
		t.Fatalf("%+v", first)
	}
	if got := first[1].Content; !strings.HasPrefix(got, "<data>\n") || strings.Count(got, "</data>") != 1 || len(got) < 20 {
		t.Errorf("%q", got)
	}
	if got := b.history(); strings.Count(got, "/run df") != 1 {
		t.Errorf("%s", got)
	}
}

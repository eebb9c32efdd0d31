package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/maishell/maishell/llm"
)

func TestHistoryAcrossTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "echo", Arguments: `{"text":"x"}`}), says("one"), says("two"), says("other"))
	for _, text := range []string{"first", "second"} {
		if err := b.Handle(t.Context(), message(text), b.out); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.history(); !strings.HasPrefix(got, "user first\nassistant [a echo") || !strings.HasSuffix(got, "</data>\nassistant one\nuser second") {
		t.Errorf("history:\n%s", got)
	}
	if sys := b.model.request[0].Messages[0]; sys.Role != "system" || !strings.Contains(sys.Content, "<data>") {
		t.Errorf("first message: %+v", sys)
	}
	m := message("third")
	m.Origin.Session = "s2"
	if err := b.Handle(t.Context(), m, b.out); err != nil || b.history() != "user third" {
		t.Errorf("another session saw: %v\n%s", err, b.history())
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	c := &conversation{}
	big := strings.Repeat("x", 4*200)
	for i := range 10 {
		c.remember([]llm.Message{{Role: "user", Content: fmt.Sprint(i)}, {Role: "assistant", Content: big}}, 1000, llm.Message{})
		before := len(c.turns)
		gone := c.outgrown(1000)
		size := 0
		for _, turn := range c.turns {
			size += llm.Estimate(turn.messages...)
		}
		if size > 1000 || len(gone) > 0 && size > 500 || len(gone)+len(c.turns) != before {
			t.Errorf("turn %d: %d gone, %d left, %d tokens", i, len(gone), len(c.turns), size)
		}
	}
	if n := len(c.turns); n < 2 || n > 4 || c.turns[n-1].messages[0].Content != "9" {
		t.Errorf("%d turns", len(c.turns))
	}
	c.summary = strings.Repeat("y", 4*900)
	if gone := c.outgrown(1000); len(gone) == 0 {
		t.Error("the summary does not count")
	}
	c.remember([]llm.Message{{Role: "user", ToolCalls: []llm.ToolCall{{Arguments: strings.Repeat("世", 400)}}}}, 100, llm.Message{})
	if c.outgrown(100); len(c.turns) != 0 {
		t.Errorf("a turn over the limit was kept")
	}
	s := newSessions()
	held := s.get("held")
	for i := range maxSessions + 10 {
		s.release(s.get(fmt.Sprint(i)))
	}
	if len(s.byID) != maxSessions || s.byID["held"] != held || s.byID["3"] != nil || s.byID[fmt.Sprint(maxSessions+9)] == nil {
		t.Errorf("%d sessions", len(s.byID))
	}
}

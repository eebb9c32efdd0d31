package agent

import (
	"strings"
	"testing"

	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/texts"
)

func TestNotices(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	b := newBench(t,
		func(llm.Request) (llm.Message, error) {
			return llm.Message{Content: "Let me look.", ToolCalls: []llm.ToolCall{{ID: "a", Name: "boom", Arguments: "{}"}, {ID: "b", Name: "no\npe", Arguments: `{"command":"a\nb\u001b[2J","x":1}`},
				{ID: "c", Name: "echo", Arguments: `{"text":"` + long}}}, nil
		}, says("done"))
	b.limits.ParallelTools = 1
	if err := b.Handle(t.Context(), message("go"), b.out); err != nil {
		t.Fatal(err)
	}
	n := b.out.notices
	n3result := `← no ⏎ pe a ⏎ b\x1b[2J` + "\n  invalid_argument: "
	if len(n) != 7 || n[0] != "Let me look." || n[1] != "→ boom" || !strings.HasPrefix(n[2], "← boom\n  ok, exit code 3, ") ||
		n[3] != `→ no ⏎ pe a ⏎ b\x1b[2J` || !strings.HasPrefix(n[4], n3result) || len(n[5]) > 4*maxShown || !strings.HasSuffix(n[5], "…") {
		t.Errorf("notices %q", n)
	}
}

func TestToolLine(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"timeout_seconds":1,"command":"df -h"}`: "t df -h", `{"topics":["disk","load"]}`: "t disk, load", `{"port":8080}`: "t 8080",
		`{"path":"/etc","topics":["disk"]}`: "t /etc", `{"other":1}`: "t", "": "t", "nonsense": "t nonsense", `{"command":{"a":1}}`: `t {"a":1}`, "null": "t",
	} {
		if got := toolLine(llm.ToolCall{Name: "t", Arguments: args}, ", "); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// A list has the commas of its language.
func TestToolLineInChinese(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(llm.ToolCall{ID: "a", Name: "no", Arguments: `{"topics":["磁盘","负载"]}`}), says("好"))
	zh, err := texts.New("zh")
	if err != nil {
		t.Fatal(err)
	}
	b.opts.Texts = func() *texts.Catalog { return zh }
	if err := b.Handle(t.Context(), message("看看"), b.out); err != nil || b.out.notices[0] != "→ no 磁盘、负载" {
		t.Errorf("%v %q", err, b.out.notices)
	}
}

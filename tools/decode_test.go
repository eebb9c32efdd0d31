package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/texts"
)

type inner struct {
	Depth int `json:"depth,omitempty"`
}

type sample struct {
	Command string            `json:"command" jsonschema:"what to run"`
	Timeout *float64          `json:"timeout_seconds,omitempty"`
	Count   int               `json:"count,omitempty" min:"1" max:"50"`
	Low     float64           `json:"low,omitempty" min:"0.5"`
	On      bool              `json:"on,omitempty"`
	Mode    string            `json:"mode,omitempty" enum:"fast,slow"`
	Topics  []string          `json:"topics,omitempty" enum:"cpu,disk"`
	Env     map[string]string `json:"env,omitempty"`
	Inner   *inner            `json:"inner,omitempty"`
	Any     any               `json:"any,omitempty"`
}

func sampleTool(t testing.TB) Tool {
	t.Helper()
	tool, err := Define(Tool{
		Name: "sample", Role: roles.Guest, Effects: []guard.Effect{guard.Read},
		Description: func(string) string { return "a sample" },
		Aliases:     map[string]string{"cmd": "command", "timeout": "timeout_seconds", "timeoutMs": "timeout_seconds", "background": ""},
	}, nil, func(context.Context, sample, guard.Action) (Result, error) { return Result{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func english(t testing.TB) *texts.Catalog {
	t.Helper()
	c, err := texts.New("en")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	tool := sampleTool(t)
	tests := []struct{ in, normal string }{
		{`{"command":"ls"}`, `{"command":"ls"}`},
		{" {\"command\" : \"a\\nb <&> \\u00e9\"}\n", `{"command":"a\nb <&> \u00e9"}`},
		{`{"command":"ls","timeout_seconds":10}`, `{"command":"ls","timeout_seconds":10}`},
		{`{"command":"ls","timeout_seconds":"10"}`, `{"command":"ls","timeout_seconds":10}`},
		{`{"command":"ls","timeout_seconds":" 2.5e0 "}`, `{"command":"ls","timeout_seconds":2.5e0}`},
		{`{"command":"ls","count":3.0}`, `{"command":"ls","count":3}`},
		{`{"command":"ls","count":"2e1"}`, `{"command":"ls","count":20}`},
		{`{"command":"ls","mode":"slow","topics":["cpu"],"on":true}`, `{"command":"ls","mode":"slow","topics":["cpu"],"on":true}`},
		{`{"command":"ls","topics":"disk"}`, `{"command":"ls","topics":["disk"]}`},
		{`{"command":"ls","env":{"A":"1"},"inner":{"depth":"7"}}`, `{"command":"ls","env":{"A":"1"},"inner":{"depth":7}}`},
		{`{"command":"ls","any":{"x":[1,null,"y"]}}`, `{"command":"ls","any":{"x":[1,null,"y"]}}`},
		{`{"command":"\ud83d\ude00 \\ud800"}`, `{"command":"\ud83d\ude00 \\ud800"}`},
	}
	for _, tt := range tests {
		args, normal, err := tool.decode(json.RawMessage(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, english(t).Error(err))
			continue
		}
		if string(normal) != tt.normal {
			t.Errorf("%s: normal form %s, want %s", tt.in, normal, tt.normal)
		}
		if args.(sample).Command == "" {
			t.Errorf("%s: command is empty", tt.in)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tool, cat := sampleTool(t), english(t)
	deep := `{"command":"x","any":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`
	tests := []struct{ in, want string }{
		{``, "command is missing"},
		{`{}`, "command is missing"},
		{`null`, "must be a JSON object"},
		{`[]`, "must be a JSON object"},
		{`"ls"`, "must be a JSON object"},
		{`{"command":"ls"} x`, "not valid JSON (byte 18)"},
		{`{"command":"ls"}{}`, "not valid JSON (byte 17)"},
		{`{"command":"ls"`, "not valid JSON"},
		{`{'command':'ls'}`, "not valid JSON"},
		{"{\"command\":\"a\xffb\"}", "not valid UTF-8 (byte 13)"},
		{`{"command":"\ud800"}`, "surrogate"},
		{`{"command":"\udc00\ud800"}`, "surrogate"},
		{`{"command":"\ud83dx\ude00"}`, "surrogate"},
		{`{"command":"` + strings.Repeat("x", MaxArgs) + `"}`, "too large"},
		{`{"command":null}`, "command is null"},
		{`{"command":"ls","timeout_seconds":null}`, "timeout_seconds is null"},
		{`{"command":5}`, "command must be a text in double quotes, got 5"},
		{`{"command":["ls"]}`, `command must be a text in double quotes, got ["ls"]`},
		{`{"command":{"a":1}}`, "command must be"},
		{`{"command":true}`, "command must be"},
		{`{"command":"a","command":"b"}`, "command is given twice"},
		{`{"command":"a","comm\u0061nd":"b"}`, "command is given twice"},
		{`{"command":"x","on":"true"}`, "on must be true or false"},
		{`{"command":"x","timeout_seconds":"x"}`, `timeout_seconds must be a number such as 2.5, got "x"`},
		{`{"command":"x","timeout_seconds":"NaN"}`, "timeout_seconds must be a number"},
		{`{"command":"x","timeout_seconds":"Inf"}`, "timeout_seconds must be a number"},
		{`{"command":"x","timeout_seconds":"0x10"}`, "timeout_seconds must be a number"},
		{`{"command":"x","timeout_seconds":"1_0"}`, "timeout_seconds must be a number"},
		{`{"command":"x","timeout_seconds":"10s"}`, "timeout_seconds must be a number"},
		{`{"command":"x","timeout_seconds":""}`, "timeout_seconds must be a number"},
		{`{"command":"x","timeout_seconds":1e309}`, "timeout_seconds is out of range"},
		{`{"command":"x","timeout_seconds":"1e999"}`, "timeout_seconds is out of range"},
		{`{"command":"x","timeout_seconds":true}`, "timeout_seconds must be a number"},
		{`{"command":"x","count":2.5}`, "count must be a whole number"},
		{`{"command":"x","count":0}`, "count must be from 1 to 50, got 0"},
		{`{"command":"x","count":51}`, "count must be from 1 to 50, got 51"},
		{`{"command":"x","count":1e300}`, "count is out of range"},
		{`{"command":"x","count":99999999999999999999}`, "count is out of range"},
		{`{"command":"x","low":0.25}`, "low must be at least 0.5, got 0.25"},
		{`{"command":"x","mode":"quick"}`, `mode must be one of fast, slow, got "quick"`},
		{`{"command":"x","topics":7}`, `topics must be a list`},
		{`{"command":"x","topics":"gpu"}`, `topics[0] must be one of cpu, disk`},
		{`{"command":"x","topics":["cpu","gpu"]}`, `topics[1] must be one of cpu, disk`},
		{`{"command":"x","env":{"A":1}}`, "env.A must be a text"},
		{`{"command":"x","env":[]}`, "env must be an object"},
		{`{"command":"x","inner":{"dept":1}}`, "inner.dept: use depth"},
		{`{"command":"x","any":{"a":1,"a":2}}`, "any.a is given twice"},
		{deep, "nested more than 32"},
		{`{"cmd":"ls"}`, "unknown parameter cmd: use command"},
		{`{"Command":"ls"}`, "unknown parameter Command: use command"},
		{`{"command":"x","timeoutSeconds":5}`, "unknown parameter timeoutSeconds: use timeout_seconds"},
		{`{"command":"x","timeout-seconds":5}`, "use timeout_seconds"},
		{`{"command":"x","timeout":5}`, "unknown parameter timeout: use timeout_seconds"},
		{`{"command":"x","timeout_ms":5000}`, "timeout_ms (milliseconds): use timeout_seconds, in seconds, got 5000"},
		{`{"command":"x","background":true}`, "background is not available here"},
		{`{"command":"x","comand":"y"}`, "unknown parameter comand: use command"},
		{`{"command":"x","zzz":1}`, "unknown parameter zzz; there are: command, timeout_seconds, count"},
		{`{"command":"x","":1}`, "unknown parameter"},
		{"{\"command\":\"x\",\"a\\u0000\\u001b[31m" + strings.Repeat("k", 500) + "\":1}", "unknown parameter a\ufffd\ufffd[31mk"},
	}
	for _, tt := range tests {
		_, _, err := tool.decode(json.RawMessage(tt.in))
		var f *Fault
		if !errors.As(err, &f) || f.Status != guard.StatusInvalidArgument {
			t.Errorf("%.200s: error %v, want a fault of status invalid_argument", tt.in, err)
			continue
		}
		if said := cat.Error(err); !strings.Contains(said, tt.want) || len(said) > 400 {
			t.Errorf("%.200s: %q, want it short and with %q", tt.in, said, tt.want)
		}
	}
}

func TestNoParameters(t *testing.T) {
	t.Parallel()
	tool, err := Define(Tool{Name: "none", Description: func(string) string { return "x" }}, nil,
		func(context.Context, struct{}, guard.Action) (Result, error) { return Result{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tool.decode(json.RawMessage(`{"a":1}`)); err == nil || !strings.Contains(english(t).Error(err), "takes none") {
		t.Errorf("error %v", err)
	}
	if got := string(tool.Parameters()); got != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Errorf("schema %s", got)
	}
}

// What the decoder accepts, the published schema accepts, and the normal form is stable.
func checkAccepted(t interface{ Fatalf(string, ...any) }, tool Tool, resolved *jsonschema.Resolved, normal json.RawMessage) {
	var v any
	if err := json.Unmarshal(normal, &v); err != nil {
		t.Fatalf("normal form is not JSON: %v: %s", err, normal)
	}
	if err := resolved.Validate(v); err != nil {
		t.Fatalf("accepted, but the schema says %v: %s", err, normal)
	}
	_, again, err := tool.decode(normal)
	if err != nil || string(again) != string(normal) {
		t.Fatalf("normal form changes: %s, then %s (%v)", normal, again, err)
	}
}

func resolve(t testing.TB, tool Tool) *jsonschema.Resolved {
	t.Helper()
	r, err := tool.Schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func FuzzDecode(f *testing.F) {
	tool, cat := sampleTool(f), english(f)
	resolved := resolve(f, tool)
	for _, s := range []string{
		``, `{}`, `null`, `{"command":"ls"}`, `{"command":"ls","timeout_seconds":"1e3"}`, `{"command":"\ud800"}`, `{"cmd":1}`,
		`{"command":"x","count":"5","topics":["cpu","disk"],"env":{"A":"b"},"inner":{"depth":1}}`, `{"command":"x","any":[{"a":[]}]}`,
		`{"command":"x","command":"y"}`, `{"command":"a\\u0000"}{`, "{\"command\":\"\xf0\"}", `{"timeoutMs":1}`, `{"command":"x","count":-0}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, normal, err := tool.decode(raw)
		if err != nil {
			var fault *Fault
			if !errors.As(err, &fault) || cat.Error(err) == fault.Code || len(cat.Error(err)) > 1000 {
				t.Fatalf("bad error: %v", err)
			}
			return
		}
		if args.(sample).Command == "" && !strings.Contains(string(normal), `"command":""`) {
			t.Fatalf("command got lost: %s", normal)
		}
		checkAccepted(t, tool, resolved, normal)
	})
}

func TestDecodeProperty(t *testing.T) {
	t.Parallel()
	tool := sampleTool(t)
	resolved := resolve(t, tool)
	rapid.Check(t, func(t *rapid.T) {
		in := map[string]any{"command": rapid.String().Draw(t, "command")}
		if rapid.Bool().Draw(t, "timeout?") {
			in["timeout_seconds"] = rapid.Float64Range(-1e300, 1e300).Draw(t, "timeout")
		}
		if rapid.Bool().Draw(t, "count?") {
			in["count"] = rapid.IntRange(1, 50).Draw(t, "count")
		}
		if rapid.Bool().Draw(t, "env?") {
			in["env"] = rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "env")
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatalf("%v", err)
		}
		args, normal, err := tool.decode(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var want string
		if err := json.Unmarshal(mustMarshal(t, in["command"]), &want); err != nil || args.(sample).Command != want {
			t.Fatalf("command %q became %q", want, args.(sample).Command)
		}
		checkAccepted(t, tool, resolved, normal)
	})
}

func mustMarshal(t *rapid.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

func TestDefineRefuses(t *testing.T) {
	t.Parallel()
	run := func(context.Context, struct{}, guard.Action) (Result, error) { return Result{}, nil }
	text := func(string) string { return "x" }
	for _, name := range []string{"", "A", "1a", "a-b", "a b", "ä", "_a", "a\n", strings.Repeat("a", 65)} {
		if _, err := Define(Tool{Name: name, Description: text}, nil, run); err == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
	if _, err := Define(Tool{Name: strings.Repeat("a", 64), Description: text}, nil, run); err != nil {
		t.Error(err)
	}
	if _, err := Define(Tool{Name: "a"}, nil, run); err == nil {
		t.Error("no description was accepted")
	}
	onlyEnglish := func(lang string) string { return map[string]string{"en": "x"}[lang] }
	if _, err := Define(Tool{Name: "a", Description: onlyEnglish}, nil, run); err == nil {
		t.Error("a description in one language was accepted")
	}
	if _, err := Define[struct{}](Tool{Name: "a", Description: text}, nil, nil); err == nil {
		t.Error("no run function was accepted")
	}
	if _, err := Define(Tool{Name: "a", Description: text}, nil, func(context.Context, int, guard.Action) (Result, error) { return Result{}, nil }); err == nil {
		t.Error("arguments that are no struct were accepted")
	}
}

func TestSchemaSaysWhatIsAccepted(t *testing.T) {
	t.Parallel()
	got := string(sampleTool(t).Parameters())
	for _, want := range []string{
		`"command":{"type":"string","description":"what to run"}`, `"timeout_seconds":{"type":"number"}`,
		`"count":{"type":"integer","minimum":1,"maximum":50}`, `"mode":{"type":"string","enum":["fast","slow"]}`,
		`"topics":{"type":"array","items":{"type":"string","enum":["cpu","disk"]}}`, `"required":["command"]`, `"additionalProperties":false`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("schema lacks %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "null") {
		t.Errorf("schema allows null, which the decoder refuses: %s", got)
	}
}

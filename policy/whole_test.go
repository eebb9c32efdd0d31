package policy

import (
	"slices"
	"testing"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		env     []string
		input   string
		runs    bool // kubectl apply
		opaque  bool
	}{
		"nothing added":         {"ls", nil, "", false, false},
		"a variable":            {"$K apply", []string{"K=kubectl"}, "", true, false},
		"quotes in a variable":  {"$K apply", []string{`Q=it's "x" $(id)`, "K=kubectl"}, "", true, false},
		"not a variable":        {"echo $K", []string{"K=kubectl apply"}, "", false, false},
		"input for a shell":     {"sh", nil, "kubectl apply", true, false},
		"input with its end":    {"bash -s ", nil, "END0\nkubectl apply\nEND1", true, true},
		"input for no shell":    {"cat", nil, "kubectl apply", false, false},
		"several, one a shell":  {"true; sh", nil, "ls", true, true},
		"a pipe into a shell":   {"cat | sh", nil, "ls", true, true},
		"several, no shell":     {"head -n1; cat", nil, "kubectl apply", false, false},
		"a comment":             {"cat # x", nil, "kubectl apply", false, false},
		"an interpreter":        {"python3", nil, "print(1)", true, true},
		"a variable and input":  {"$S", []string{"S=sh"}, "kubectl apply", true, true},
		"input cannot be read":  {"sh", nil, "if", true, true},
		"no newline at the end": {"sh", []string{"A=b"}, "kubectl apply\n", true, false},
	} {
		a, err := Parse(Whole(c.command, c.env, c.input), POSIX)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a.Runs("kubectl", "apply") != c.runs || a.Opaque != c.opaque {
			t.Errorf("%s: runs %v, opaque %v (%v)", name, a.Runs("kubectl", "apply"), a.Opaque, a.Why)
		}
	}
}

// What was visible without additions stays visible with them.
func FuzzWhole(f *testing.F) {
	f.Add("ls; id", "X", "a'b", "text\nEND0")
	f.Fuzz(func(t *testing.T, command, name, value, input string) {
		if name == "" || slices.ContainsFunc([]rune(name), func(r rune) bool { return r < 'A' || r > 'Z' }) {
			return
		}
		before, err := Parse(command, POSIX)
		if err != nil || before.Opaque {
			return
		}
		after, err := Parse(Whole(command, []string{name + "=" + value}, input), POSIX)
		if err != nil {
			return // more is refused, never less
		}
		for _, c := range before.Commands {
			if c.Program.Static && !c.Program.Tracked && before.Runs(c.Program.Text) && !after.Runs(c.Program.Text) {
				t.Errorf("%q runs %q no more with %s=%q and %q", command, c.Program.Text, name, value, input)
			}
		}
	})
}

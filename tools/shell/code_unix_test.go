//go:build unix

package shell

import (
	"fmt"
	"testing"
)

func TestCodeNote(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		0: "", 1: "", 2: "", 125: "", 128: "", 255: "", -1: "", 126: "tool_shell.code_126[]", 127: "tool_shell.code_127[]",
		137: "tool_shell.code_signal[137 SIGKILL]", 139: "tool_shell.code_signal[139 SIGSEGV]", 130: "tool_shell.code_signal[130 SIGINT]",
	} {
		id, args := codeNote(code)
		got := id
		if id != "" {
			got += fmt.Sprint(args)
		}
		if got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
}

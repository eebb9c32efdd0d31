package executor

import "testing"

func TestInRunGroup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0::/maishell-123-456/7\n":                             true,
		"1:cpu:/\n0::/user.slice/maishell-9-88/12/own\n":       true,
		"0::/maishell-123-456\n":                               false, // where maishell itself would be
		"0::/user.slice/maishell-chat/1\n":                     false,
		"2:name=systemd:/maishell-123-456/7\n0::/init.scope\n": false,
		"": false,
	} {
		if got := inRunGroup(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

//go:build unix

package app

import "testing"

func TestCommandText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		words []string
		want  string
	}{
		{[]string{"echo $HOME | wc -l"}, "echo $HOME | wc -l"},
		{[]string{"echo", "a b", "$HOME"}, `echo 'a b' '$HOME'`},
		{[]string{"printf", "it's"}, `printf "it's"`},
		{[]string{"true", ""}, "true ''"},
	}
	for _, tt := range tests {
		got, err := commandText(tt.words)
		if err != nil || got != tt.want {
			t.Errorf("commandText(%q) = %q, %v; want %q", tt.words, got, err, tt.want)
		}
	}
	if got, err := commandText([]string{"echo", "a\x00b"}); err == nil {
		t.Errorf("a NUL byte was quoted: %q", got)
	}
}

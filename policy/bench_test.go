package policy

import (
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"word":     "echo hi",
		"pipeline": "ps aux --sort=-%mem | grep -v root | head -n 6 > /tmp/out",
		"list":     "cd /srv && git pull; k=kubectl; $k apply -f x",
		"inner":    "sudo sh -c 'systemctl restart nginx && echo ok'",
		"heredoc":  "cat > f <<'E'\n" + strings.Repeat("some line of text\n", 500) + "E",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text, Bash); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

//go:build unix

package executor

import (
	"os"
	"strings"
)

// localePage returns the character set that the locale names, empty when it names none.
func localePage() string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			_, set, _ := strings.Cut(value, ".")
			set, _, _ = strings.Cut(set, "@")
			return set
		}
	}
	return ""
}

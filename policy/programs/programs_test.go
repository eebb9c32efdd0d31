package programs

import (
	"strings"
	"testing"
)

func TestGrammarsAreUnambiguous(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"env", "nice", "nohup", "timeout", "setsid", "stdbuf", "ionice", "chrt", "taskset", "sudo", "doas", "command", "exec",
		"time", "xargs", "flock", "chroot", "watch", "ssh", "busybox", "builtin",
	} {
		g, ok := Wrapper(name)
		if !ok {
			t.Errorf("%s is not known", name)
			continue
		}
		short := g.Flags + g.Values + g.Optional + g.Queries
		for _, c := range short {
			if strings.Count(short, string(c)) > 1 {
				t.Errorf("%s: -%c means two things", name, c)
			}
		}
		long := append(strings.Fields(g.Long), strings.Fields(g.LongValues)...)
		for i, a := range long {
			for _, b := range long[:i] {
				if a == b {
					t.Errorf("%s: --%s means two things", name, a)
				}
			}
		}
	}
	if _, ok := Wrapper("ls"); ok {
		t.Error("ls is no wrapper")
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"PS4", "ENV", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "GIT_SSH_COMMAND", "MANPAGER", "TAR_OPTIONS"} {
		if !Hijacks(name) {
			t.Errorf("%s is harmless", name)
		}
	}
	for _, name := range []string{"", "PATHS", "LANG", "TZ", "HOME", "GIT_AUTHOR_NAME", "NO_COLOR", "x"} {
		if Hijacks(name) {
			t.Errorf("%s hijacks", name)
		}
	}
	for name, want := range map[string]bool{"python3.12": true, "python": true, "perl5": true, "pythonic": false, "": false, "3": false} {
		if Interpreter(name) != want {
			t.Errorf("Interpreter(%q) = %v", name, !want)
		}
	}
	if !RunsCommands("parallel") || RunsCommands("ls") || RunOptions("tar") == "" || RunOptions("ls") != "" {
		t.Error("a table is wrong")
	}
}

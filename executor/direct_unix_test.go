//go:build unix

package executor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// What is taken for plain words is what the shells see.
func TestPlainWordsAreTheShellsWords(t *testing.T) {
	t.Parallel()
	var shells []string
	for _, name := range []string{"sh", "bash", "dash"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		}
	}
	pieces := rapid.SampledFrom([]string{
		"a", "b=c", "-x", "--y=z", "/bin", " ", "\t", "  ", "'", `"`, "'q r'", `"s t"`, `"$HOME"`, "$HOME", "`true`", "*", "?", "[a]", "{a,b}", "~", "\\", "#", ";",
		"&", "|", "<", "(", "!", "\n", "%", "@", "+", ":", ",", "''", `""`, "=", "1", "é", "\u00a0",
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 1, 7).Draw(rt, "pieces"), "")
		words := plainWords("w " + text)
		if words == nil {
			return
		}
		shell := rapid.SampledFrom(shells).Draw(rt, "shell")
		out, err := exec.CommandContext(t.Context(), shell, "-c", `w() { printf '<%s>' "$@"; }; w `+text).Output()
		want := "<" + strings.Join(words[1:], "><") + ">"
		if err != nil || string(out) != want {
			rt.Fatalf("%s: %q has the words %s, not %s (%v)", shell, text, out, want, err)
		}
	})
}

func TestPlainWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"uname -r":             {"uname", "-r"},
		"\t ls  -l --color=no": {"ls", "-l", "--color=no"},
		`df 'a b'"c d"e ""`:    {"df", "a bc de", ""},
		`find . -name '*.go'`:  {"find", ".", "-name", "*.go"},
		"a=b c":                nil,
		"'' x":                 nil,
		" ":                    nil,
		"ls *":                 nil, "ls ~": nil, "ls $x": nil, `ls "$x"`: nil, `ls "a\b"`: nil, "ls `x`": nil, `ls "!x"`: nil, "ls {a,b}": nil,
		"ls; id": nil, "ls\nid": nil, "ls &": nil, "ls > f": nil, "ls | wc": nil, "! ls": nil, "(ls)": nil, "ls # x": nil, `ls 'a`: nil, `ls "a`: nil, `l\s`: nil, "ls é": nil, "ls a\rb": nil,
	} {
		if diff := cmp.Diff(want, plainWords(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// writeProgram writes an executable file. No process is started meanwhile: one that inherited the open file would keep it
// from being executed ("text file busy").
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
}

// programs makes a directory with what can stand in a PATH.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"noshebang": "echo by the shell $#\n", "badshebang": "#!/nowhere\n", "shebang": "#!/bin/sh\necho script $#\n", "short": "\x7fE", "empty": "", "broken": "\x7fELF and no more",
	} {
		writeProgram(t, filepath.Join(dir, name), text)
	}
	if err := os.WriteFile(filepath.Join(dir, "plainfile"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Whether a command goes through the shell or not, it prints the same and ends the same.
func TestDirectAndThroughTheShellAgree(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{})
	dir := programs(t)
	path := []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	for command, direct := range map[string]bool{
		"uname -s": true, "/bin/ls -d / '/bin/.'": true, "ls /no/such/file": true, "ls --no-such-option": true, "cat ''": true, "printenv PWD PATH MAISHELL": true,
		"expr 1 = 2": true, "sh -c 'exit 7'": true, "sh -c 'kill -9 $$'": true, "sh -c 'echo $0 $#' a b": true,
		"no-such-program x": false, "/no/such/program": false, "./uname": false, "noshebang a": false, "badshebang": false, "shebang a b": false, "short": false, "empty": false,
		"plainfile": false, "folder": false, "fifo": false, "pwd": false, "echo -n 'a\\nb'": false, "test 1 = 2": false, "printf %s a": false, "kill -l": false, "type ls": false,
		"if": false, "uname -s;": false, "uname -s > /dev/null": false, "uname $x": false,
		// The system refuses it after we took it for a program; the shell says what it thinks of it.
		"broken": true,
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			req := request(t, command)
			req.Env = path
			spec := spawnSpec{shell: e.shell, command: command, dir: req.Dir, env: runEnv(e.env, path, req.Dir, "x")}
			ways, err := launches(&spec)
			if err != nil || (len(ways) == 2) != direct {
				t.Fatalf("%v, %v: want direct %v", ways, err, direct)
			}
			got := e.Run(t.Context(), req)
			req.Command = "{ " + command + "\n}"
			if command == "if" {
				req.Command = "if " // no blank, the same error
			}
			want := e.Run(t.Context(), req)
			line := func(s string) string { // shells name the line
				s = strings.ReplaceAll(s, "line 2: ", "line 1: ")
				return strings.ReplaceAll(s, ": 2: ", ": 1: ")
			}
			if got.Status != want.Status || deref(got.ExitCode) != deref(want.ExitCode) || got.Stdout.Head != want.Stdout.Head || line(got.Stderr.Head) != line(want.Stderr.Head) && got.Signal == "" {
				t.Errorf("%s %d %q %q\nthrough the shell: %s %d %q %q", got.Status, deref(got.ExitCode), got.Stdout.Head, got.Stderr.Head,
					want.Status, deref(want.ExitCode), want.Stdout.Head, want.Stderr.Head)
			}
		})
	}
}

// The first directory of PATH that has an executable file of the name counts, and none when that depends on where we stand.
func TestDirectSearchesAsTheShellDoes(t *testing.T) {
	t.Parallel()
	ls, err := exec.LookPath("ls")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ls"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		dir + ":" + filepath.Dir(ls): ls,
		":" + filepath.Dir(ls):       "",
		".:" + filepath.Dir(ls):      "",
		filepath.Dir(ls) + ":":       "",
		dir:                          "",
	} {
		if got := nativeProgram("ls", []string{"PATH=" + list}); got != want {
			t.Errorf("PATH=%s: %q, want %q", list, got, want)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "ls"), 0o100); err != nil {
		t.Fatal(err)
	}
	if got := nativeProgram("ls", []string{"PATH=" + dir + ":" + filepath.Dir(ls)}); got != "" {
		t.Errorf("the shell would take the unreadable, empty file, not %q", got)
	}
}

// A shell that somebody put there to see every command sees every command.
func TestDirectIsNotForOtherShells(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{})
	own := filepath.Join(t.TempDir(), "sh")
	writeProgram(t, own, "#!/bin/sh\necho \"seen: $2\"\n")
	req := request(t, "uname -s")
	req.Shell = own
	if r := e.Run(t.Context(), req); r.Stdout.Head != "seen: uname -s\n" {
		t.Errorf("%s %q %q", r.Status, r.Stdout.Head, r.Stderr.Head)
	}
	for shell, want := range map[string]bool{"/bin/sh": true, "/usr/bin/bash": true, "/bin/rbash": false, "/usr/local/bin/sh": false, "/bin/zsh": false, "/home/x/bash": false} {
		if readsPlainly(shell) != want {
			t.Errorf("%s: %v", shell, !want)
		}
	}
}

// A directly started command is the child that we wait for, with nothing between.
func TestDirectHasNoShellBetween(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, killMethods()[0], Options{})
	req := request(t, "sleep 60")
	var name string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req.Started = func(pid int) {
		name = commandLine(t, pid)
		cancel()
	}
	r := e.Run(ctx, req)
	if name != "sleep 60" || r.Status != Cancelled || r.Signal != "SIGTERM" {
		t.Errorf("%q %s %s", name, r.Status, r.Signal)
	}
}

// commandLine is what a process was started with. For a moment after its start it may not be there yet.
func commandLine(t *testing.T, pid int) string {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-tick.C {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if errors.Is(err, os.ErrNotExist) { // no /proc: a system that has ps
			text, err = exec.CommandContext(t.Context(), "ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
		}
		if line := strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " ")); line != "" || err != nil || time.Now().After(deadline) {
			return line
		}
	}
}

func TestShellsOwn(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "bash", "-c", "compgen -b; compgen -k").Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no bash")
	}
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	if len(words) < 50 {
		t.Fatalf("only %d names", len(words))
	}
	special := []string{"{", "}", "[[", "]]", "!"} // not plain words
	for _, w := range words {
		if !shellsOwn(w) && !slices.Contains(special, w) {
			t.Errorf("bash's %q is not known", w)
		}
	}
}

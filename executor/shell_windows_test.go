package executor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ shell, command, want string }{
		{`C:\Windows\System32\cmd.exe`, `echo "a b"`, `"C:\Windows\System32\cmd.exe" /D /S /C "echo "a b""`},
		{`CMD`, "dir\n", `"CMD" /D /S /C "dir"`},
		{`powershell.exe`, "'a'\n\"b\"", "\"powershell.exe\" -NoProfile -NonInteractive -Command \"'a'\n\\\"b\\\"\""},
		{`C:\Program Files\Git\bin\bash.exe`, `ls *.txt`, `"C:\Program Files\Git\bin\bash.exe" --norc --noprofile -c "ls *.txt"`},
		{`sh`, `-x`, `"sh" -c -- "-x"`},
	} {
		got, err := commandLine(test.shell, test.command)
		if err != nil || got != test.want {
			t.Errorf("got %s %v, want %s", got, err, test.want)
		}
	}
}

// TestQuoteArg lets the system's own parser read what was quoted.
func TestQuoteArg(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"", "a", "a b", `a"b`, `a\`, `a\\`, `\"`, `\\"\`, `C:\dir\ x\`, "line\nbreak", `"`, "中 😀"} {
		got, err := windows.DecomposeCommandLine("x " + quoteArg(arg) + " y")
		if err != nil || len(got) != 3 || got[1] != arg {
			t.Errorf("%q became %q %v", arg, got, err)
		}
	}
}

func TestEnvironmentBlock(t *testing.T) {
	t.Parallel()
	system, err := windows.GetSystemDirectory()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"b=2", "A=1", "PATH=", "c=中"}
	block := string(utf16.Decode(environmentBlock(env)))
	entries := strings.Split(strings.TrimSuffix(block, "\x00\x00"), "\x00")
	if len(entries) != 5 || entries[0] != "A=1" || entries[1] != "b=2" || entries[2] != "c=中" ||
		!strings.HasPrefix(entries[3], "PATH="+system) || !strings.HasPrefix(entries[4], "SystemRoot=") {
		t.Errorf("%q", entries)
	}
	if env[0] != "b=2" || env[2] != "PATH=" {
		t.Errorf("the caller's slice was changed: %q", env)
	}
}

func TestAllowedEnvIgnoresCase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Path", "SYSTEMROOT", "systemroot", "ProgramFiles(x86)", "ComSpec"} {
		if !allowedEnv(name) {
			t.Errorf("%s is not allowed", name)
		}
	}
	for _, name := range []string{"FAKE_API_KEY", "PROMPT", "=C:", "HTTP_PROXY"} {
		if allowedEnv(name) {
			t.Errorf("%s is allowed", name)
		}
	}
}

func TestFindShell(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	path := filepath.Join(dir, "mysh.exe")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"Path=relative;" + dir}
	for shell, want := range map[string]string{"mysh": path, "mysh.exe": path, `.\mysh`: `.\mysh`, "nosh": "nosh"} {
		if got := findShell(shell, env); got != want {
			t.Errorf("%s is %s, want %s", shell, got, want)
		}
	}
	if got := findShell("cmd", nil); !filepath.IsAbs(got) || !isFile(got) {
		t.Errorf("cmd is %s", got)
	}
	if got := defaultShell(nil); !isFile(got) {
		t.Errorf("the default shell is %s", got)
	}
	if got := defaultShell([]string{`ComSpec=D:\x.exe`}); got != `D:\x.exe` {
		t.Errorf("ComSpec is ignored: %s", got)
	}
}

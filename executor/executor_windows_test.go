package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// newWindowsExecutor returns an executor whose host environment has extra in it.
func newWindowsExecutor(t *testing.T, extra ...string) *Executor {
	t.Helper()
	e, err := New(Options{Env: append(os.Environ(), extra...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// tempDir is t.TempDir without os.RemoveAll, which older Wine cannot do.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "executor")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A process is reported as ended a moment before the system lets go of the folder it stood in.
		for deadline := time.After(5 * time.Second); ; {
			entries, err := os.ReadDir(dir)
			for _, entry := range entries {
				err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
			}
			if err = errors.Join(err, os.Remove(dir)); err == nil {
				return
			}
			select {
			case <-deadline:
				t.Error(err)
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return dir
}

func cmdRequest(t *testing.T, command string) Request {
	t.Helper()
	return Request{RunID: t.Name(), Command: command, Dir: tempDir(t), Timeout: time.Minute}
}

func exitCode(r Result) string {
	if r.ExitCode == nil {
		return "none"
	}
	return fmt.Sprint(*r.ExitCode)
}

func TestCmd(t *testing.T) {
	t.Parallel()
	e := newWindowsExecutor(t, "FAKE_API_KEY=s3cret")
	for _, test := range []struct{ name, command, stdout, stderr, code string }{
		{"echo", "echo hi", "hi\n", "", "0"},
		{"exit code", "exit 7", "", "", "7"},
		{"exit /b", "exit /b 3", "", "", "3"},
		{"negative exit code", "exit -5", "", "", "-5"},
		{"stderr", "echo note>&2", "", "note\n", "0"},
		{"both", "echo out& echo err>&2", "out\n", "err\n", "0"},
		{"quotes", `echo "a b" c`, "\"a b\" c\n", "", "0"},
		{"quoted path", `if exist "C:\Program Files" echo yes`, "yes\n", "", "0"},
		{"redirect", `echo x>f.txt& type f.txt`, "x\n", "", "0"},
		{"null device", `echo x> nul & if exist nul\x echo a file`, "", "", "0"},
		{"pipe", `echo hello| find "ell"`, "hello\n", "", "0"},
		{"and", "echo a&& echo b", "a\nb\n", "", "0"},
		{"variable", "echo %MAISHELL%", "1\n", "", "0"},
		{"secret not visible", "echo %FAKE_API_KEY%", "%FAKE_API_KEY%\n", "", "0"},
		{"trailing line break", "echo hi\r\n", "hi\n", "", "0"},
		{"standard input is empty", "set v=old& set /p v=& call echo [%v%]", "[old]\n", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := e.Run(context.Background(), cmdRequest(t, test.command))
			if r.Status != OK || r.Stdout.Head != test.stdout || r.Stderr.Head != test.stderr || len(r.LeftPIDs) > 0 {
				t.Errorf("%+v %v", r, r.Err)
			}
			if test.code != "" && exitCode(r) != test.code {
				t.Errorf("exit code %s, want %s", exitCode(r), test.code)
			}
		})
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	e := newWindowsExecutor(t)
	for command, want := range map[string]string{"find \"w\"": "two\n", "echo hi": "hi\n"} {
		req := cmdRequest(t, command)
		req.Stdin = "one\r\ntwo\r\n"
		if r := e.Run(context.Background(), req); r.Status != OK || !strings.HasSuffix(r.Stdout.Head, want) {
			t.Errorf("%s: %+v %v", command, r, r.Err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "maishell-stdin-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestCmdListsQuotedFolder(t *testing.T) {
	t.Parallel()
	r := newWindowsExecutor(t).Run(context.Background(), cmdRequest(t, `dir "C:\Program Files" /b & echo "a b" c`))
	if !strings.HasSuffix(r.Stdout.Head, "\"a b\" c\n") || !strings.Contains(r.Stdout.Head, "Common Files") || r.Stderr.Head != "" {
		t.Errorf("%+v", r)
	}
}

func TestCmdRefuses(t *testing.T) {
	t.Parallel()
	e := newWindowsExecutor(t)
	file := filepath.Join(tempDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		set  func(*Request)
		code string
	}{
		{"second line", func(r *Request) { r.Command = "echo a\necho b" }, codeCommandNewline},
		{"carriage return", func(r *Request) { r.Command = "echo a\recho b" }, codeCommandNewline},
		{"not UTF-8", func(r *Request) { r.Command = "echo \xff" }, codeCommandNotText},
		{"too long for cmd", func(r *Request) { r.Command = "echo " + strings.Repeat("中", maxCmdLine) }, codeLineLong},
		{"too long for windows", func(r *Request) {
			r.Shell, r.Command = "powershell", strings.Repeat("a", maxProcessLine)
		}, codeLineLong},
		{"no such folder", func(r *Request) { r.Dir = file + "-not" }, codeCwdMissing},
		{"folder is a file", func(r *Request) { r.Dir = file }, codeCwdNotDir},
		{"no such shell", func(r *Request) { r.Shell = `C:\no\shell.exe` }, codeShellMissing},
		{"no such shell in PATH", func(r *Request) { r.Shell = "noshell" }, codeShellMissing},
		{"shell is no program", func(r *Request) { r.Shell = file }, codeShellUnusable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			req := cmdRequest(t, "echo hi")
			test.set(&req)
			r := e.Run(context.Background(), req)
			if r.Err == nil || r.Err.Code != test.code || r.ExitCode != nil || r.Status != SpawnFailed && r.Status != Invalid {
				t.Errorf("%+v: %v, want %s", r, r.Err, test.code)
			}
		})
	}
}

// TestTimeoutEndsGrandchildren uses a program that cmd.exe does not wait for, and one that it does.
func TestTimeoutEndsGrandchildren(t *testing.T) {
	t.Parallel()
	e := newWindowsExecutor(t)
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			shell := make(chan int, 1)
			req := cmdRequest(t, "start /b ping -n 60 127.0.0.1 >nul & ping -n 60 127.0.0.1")
			req.Timeout = 1500 * time.Millisecond
			req.Started = func(pid int) { shell <- pid }
			seen := make(chan []uint32, 1)
			done := make(chan struct{})
			go func() {
				pid := uint32(<-shell)
				var pids []uint32
				for ended := false; !ended; {
					select {
					case <-done:
						ended = true
					case <-time.After(20 * time.Millisecond):
					}
					for _, child := range childrenOf(t, pid) {
						if !slices.Contains(pids, child) {
							pids = append(pids, child)
						}
					}
				}
				seen <- append(pids, pid)
			}()
			start := time.Now()
			r := e.Run(context.Background(), req)
			took := time.Since(start)
			close(done)
			pids := <-seen
			if r.Status != Timeout || took > 10*time.Second {
				t.Errorf("%s after %v", r.Status, took)
			}
			if len(pids) < 3 {
				t.Errorf("only %d processes were started", len(pids))
			}
			for _, pid := range pids {
				if isRunning(pid) {
					t.Errorf("process %d of %v survived", pid, pids)
				}
			}
		})
	}
}

func TestCancelKeepsOutput(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	req := cmdRequest(t, "echo first& ping -n 60 127.0.0.1 >nul")
	req.Started = func(int) { time.AfterFunc(2*time.Second, cancel) }
	r := newWindowsExecutor(t).Run(ctx, req)
	if r.Status != Cancelled || r.Stdout.Head != "first\n" {
		t.Errorf("%+v", r)
	}
}

// TestEmptyPath shows that neither finding nor ending a program depends on a PATH.
func TestEmptyPath(t *testing.T) {
	t.Parallel()
	e, err := New(Options{Env: []string{"PATH=", "SystemRoot=" + os.Getenv("SystemRoot")}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	req := cmdRequest(t, "echo first& ping -n 60 127.0.0.1 >nul & echo second")
	req.Timeout = 2 * time.Second
	if r := e.Run(context.Background(), req); r.Status != Timeout || r.Stdout.Head != "first\n" || r.Stderr.Head != "" {
		t.Errorf("%+v", r)
	}
}

func TestLeftoverLivesOn(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := newWindowsExecutor(t).Run(context.Background(), cmdRequest(t, "start /b ping -n 50 127.0.0.1 & echo hi"))
	if r.Status != OK || r.Stdout.Head != "hi\n" || len(r.LeftPIDs) != 1 || time.Since(start) > 20*time.Second {
		t.Fatalf("%+v", r)
	}
	process, err := windows.OpenProcess(windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, uint32(r.LeftPIDs[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	if event, err := windows.WaitForSingleObject(process, 1500); err != nil || event != uint32(windows.WAIT_TIMEOUT) {
		t.Errorf("left-over process ended: %d %v", event, err)
	}
	if err := windows.TerminateProcess(process, 1); err != nil {
		t.Error(err)
	}
	_, _ = windows.WaitForSingleObject(process, windows.INFINITE) // it stands in a folder that is removed now
}

func TestBigOutputIsBounded(t *testing.T) {
	t.Parallel()
	r := newWindowsExecutor(t).Run(context.Background(), cmdRequest(t, "for /L %i in (1,1,3000) do @echo line %i"))
	if !r.Stdout.Truncated() || !strings.HasPrefix(r.Stdout.Head, "line 1\nline 2\n") ||
		!strings.HasSuffix(r.Stdout.Tail, "line 2999\nline 3000\n") {
		t.Errorf("%+v", r)
	}
	if n := runes(r.Stdout.Head) + runes(r.Stdout.Tail); n > defaultMaxChars || n < defaultMaxChars-20 {
		t.Errorf("%d characters", n)
	}
}

func TestCodePageOutput(t *testing.T) {
	t.Parallel()
	req := cmdRequest(t, "type gbk.txt & type gbk.txt>&2")
	req.CodePage = "cp936"
	text := encode(t, simplifiedchinese.GBK, "目录 的总数\r\n")
	if err := os.WriteFile(filepath.Join(req.Dir, "gbk.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newWindowsExecutor(t).Run(context.Background(), req)
	if want := "目录 的总数\n"; r.Stdout.Head != want || r.Stderr.Head != want {
		t.Errorf("%q %q", r.Stdout.Head, r.Stderr.Head)
	}
}

// TestNoOtherHandles makes a handle that any child could inherit: the pipe must end although a command runs.
func TestNoOtherHandles(t *testing.T) {
	t.Parallel()
	var read, write windows.Handle
	if err := windows.CreatePipe(&read, &write, inheritable(), 0); err != nil {
		t.Fatal(err)
	}
	pipe := os.NewFile(uintptr(read), "pipe")
	defer func() { _ = pipe.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req := cmdRequest(t, "ping -n 60 127.0.0.1 >nul")
	ended := make(chan error, 1)
	req.Started = func(int) {
		go func() {
			_ = windows.CloseHandle(write)
			_, err := io.ReadAll(pipe)
			ended <- err
			cancel()
		}()
	}
	req.Timeout = 20 * time.Second
	r := newWindowsExecutor(t).Run(ctx, req)
	if r.Status != Cancelled {
		t.Errorf("the command held a handle of ours: %s", r.Status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunsLeaveNoHandles(t *testing.T) {
	e := newWindowsExecutor(t)
	run := func() {
		if r := e.Run(context.Background(), cmdRequest(t, "echo hi")); r.Status != OK {
			t.Fatalf("%+v", r)
		}
	}
	for range 3 {
		run()
	}
	before := handleCount(t)
	for range 12 {
		run()
	}
	if after := handleCount(t); after > before+6 {
		t.Errorf("%d handles, %d before twelve runs", after, before)
	}
}

func handleCount(t *testing.T) int {
	t.Helper()
	var n uint32
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetProcessHandleCount")
	if ok, _, err := call.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&n))); ok == 0 {
		t.Skip(err)
	}
	return int(n)
}

// childrenOf lists the running processes that parent started.
func childrenOf(t *testing.T, parent uint32) []uint32 {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	var pids []uint32
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if entry.ParentProcessID == parent {
			pids = append(pids, entry.ProcessID)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		t.Error(err)
	}
	return pids
}

func isRunning(pid uint32) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(process) }()
	event, err := windows.WaitForSingleObject(process, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}

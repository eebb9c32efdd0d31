package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maishell/maishell/tools/internal/tooltest"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	en, zh := setup(t, "en"), setup(t, "zh")
	cmd := func(kv ...any) string { return tooltest.Args(t, append([]any{"command", "echo hi"}, kv...)...) }
	const seconds = "timeout_seconds must be from 0.1 to 3600, got "
	tests := []struct{ args, en, zh string }{
		{`{}`, "command is missing", "command"},
		{`{"command":""}`, "command is empty", "command"},
		{`{"command":" \n\t"}`, "command is empty", "command"},
		{`{"command":"a\u0000b"}`, "command contains a NUL", "command"},
		{tooltest.Args(t, "command", strings.Repeat("x", 128_001)), "command is too long: 128001 bytes, at most 128000", "command"},
		{`{"command":5}`, "command must be a text", "command"},
		{`{"command":null}`, "command is null", "command"},
		{`{"command":["echo","hi"]}`, "command must be a text", "command"},
		{`{"command":{"a":1}}`, "command must be a text", "command"},
		{`{"cmd":"echo"}`, "cmd: use command", "请用 command"},
		{`{"script":"echo"}`, "script: use command", "请用 command"},
		{`{"comand":"echo"}`, "comand: use command", "请用 command"},
		{cmd("workdir", "/"), "workdir: use cwd", "请用 cwd"},
		{cmd("working_directory", "/"), "working_directory: use cwd", "请用 cwd"},
		{cmd("workingDirectory", "/"), "workingDirectory: use cwd", "请用 cwd"},
		{cmd("timeout", 5), "timeout: use timeout_seconds", "请用 timeout_seconds"},
		{cmd("timeoutSeconds", 5), "timeoutSeconds: use timeout_seconds", "请用 timeout_seconds"},
		{cmd("timeoutMs", 5000), "timeoutMs (milliseconds): use timeout_seconds, in seconds, got 5000", "单位是秒"},
		{cmd("yieldMs", 5000), "yieldMs is not available here", "yieldMs"},
		{cmd("yield_ms", 5000), "yield_ms is not available here", "yield_ms"},
		{cmd("background", true), "background is not available here", "background"},
		{cmd("pty", true), "pty is not available here", "pty"},
		{cmd("env", map[string]string{"LD_PRELOAD": "x"}), "LD_PRELOAD may not be set by a call: it makes the system load other code", "LD_PRELOAD"},
		{cmd("env", map[string]string{"PATH": "/tmp"}), "PATH may not be set by a call", "PATH"},
		{cmd("env", map[string]string{"A-B": "x"}), "A-B is no name for a variable", "A-B"},
		{cmd("env", "A=b"), "env must be an object", "env"},
		{cmd("env", map[string]any{"A": 1}), "env.A must be a text", "env.A"},
		{cmd("stdin", strings.Repeat("x", 262145)), "stdin: 262145 bytes are too long, at most 262144", "stdin"},
		{cmd("host", "node"), "host is not available here", "host"},
		{cmd("elevated", true), "elevated is not available here", "elevated"},
		{cmd("zzzzzz", 1), "unknown parameter zzzzzz; there are: command, timeout_seconds, cwd, env, stdin", "zzzzzz"},
		{cmd("timeout_seconds", 0), seconds + "0", "0.1 到 3600"},
		{cmd("timeout_seconds", -1), seconds + "-1", "0.1 到 3600"},
		{cmd("timeout_seconds", 0.05), seconds + "0.05", "0.1 到 3600"},
		{cmd("timeout_seconds", 3600.5), seconds + "3600.5", "0.1 到 3600"},
		{cmd("timeout_seconds", 1e9), seconds + "1000000000", "0.1 到 3600"},
		{cmd("timeout_seconds", 1e308), seconds + "1e+308", "0.1 到 3600"},
		{cmd("timeout_seconds", "-3"), seconds + "-3", "0.1 到 3600"},
		{cmd("timeout_seconds", "x"), "timeout_seconds must be a number", "timeout_seconds"},
		{cmd("timeout_seconds", "NaN"), "timeout_seconds must be a number", "timeout_seconds"},
		{cmd("timeout_seconds", "Infinity"), "timeout_seconds must be a number", "timeout_seconds"},
		{cmd("timeout_seconds", "10s"), "timeout_seconds must be a number", "timeout_seconds"},
		{cmd("timeout_seconds", nil), "timeout_seconds is null", "timeout_seconds"},
		{`{"command":"x","timeout_seconds":NaN}`, "not valid JSON", "JSON"},
		{`{"command":"x","timeout_seconds":1e400}`, "timeout_seconds is out of range", "timeout_seconds"},
		{cmd("cwd", missing), "cwd: the working directory does not exist: " + missing, "工作目录不存在：" + missing},
		{cmd("cwd", file), "cwd: the working directory is not a directory: " + file, "工作目录不是目录：" + file},
		{cmd("cwd", file+"/sub"), "cwd: the working directory", "工作目录"},
		{cmd("cwd", "sub"), "cwd: the working directory must be an absolute path or start with ~/, got sub", "工作目录必须"},
		{cmd("cwd", "~nobody"), "cwd: the working directory must be an absolute path", "工作目录必须"},
		{cmd("cwd", dir+"\x00"), "cwd: the working directory contains a NUL", "工作目录"},
		{cmd("cwd", 5), "cwd must be a text", "cwd"},
	}
	for _, tt := range tests {
		for _, side := range []struct {
			e    *env
			want string
		}{{en, tt.en}, {zh, tt.zh}} {
			got := tooltest.Call(t, side.e.View, "run_command", tt.args)
			if got["status"] != "invalid_argument" || got["success"] != false || !strings.Contains(got.Text("error"), side.want) || len(got.Text("error")) > 600 {
				t.Errorf("%.100s: %v, want invalid_argument with %q", tt.args, got, side.want)
			}
			for _, key := range []string{"run_id", "command", "cwd", "exit_code", "stdout", "stderr", "timed_out", "truncated", "duration_seconds"} {
				if v, ok := got[key]; !ok || key == "exit_code" && v != nil {
					t.Errorf("%.100s: %s is %v (there: %v)", tt.args, key, v, ok)
				}
			}
		}
	}
	if en.run.count()+zh.run.count() != 0 {
		t.Error("something was run")
	}
	if n := len(en.door.Refusals()); n != len(tests) {
		t.Errorf("%d of %d refusals were recorded", n, len(tests))
	}
}

package app

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/texts"
)

// cli runs a command line that gets no further than being understood.
func cli(t *testing.T, lang string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), system{
		args: args, env: []string{"HOME=" + t.TempDir(), "LANG=" + lang}, in: strings.NewReader(""), out: &out, err: &errs,
	})
	return code, out.String(), errs.String()
}

func TestMisuseIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, en, zh string }{
		{"foo", "unknown command foo", "未知命令 foo"},
		{"audt", "did you mean audit?", "是否想写 audit"},
		{"audit lst", "did you mean list?", "是否想写 list"},
		{"audit list x", "usage: maishell audit list", "用法：maishell audit list"},
		{"audit show", "usage: maishell audit show SEQ", "用法：maishell audit show SEQ"},
		{"audit show 0", "not a record number", "不是记录编号"},
		{"audit list --limit x", "--limit x: want a whole number", "应为不小于 0 的整数"},
		{"audit list --json=7", "--json 7: want true or false", "应为 true 或 false"},
		{"--bogus", "unknown flag --bogus", "未知选项 --bogus"},
		{"doctor -z", "unknown flag -z", "未知选项 -z"},
		{"--config", "--config needs a value", "--config 需要一个值"},
		{"chat x", "usage: maishell chat", "用法：maishell chat"},
		{"help nope", "unknown command nope", "未知命令 nope"},
		{"completion tcsh", "bash, zsh, fish, powershell", "应为以下之一"},
		{"config init --lang fr", "--lang fr: want one of en, zh", "应为以下之一：en, zh"},
		{"a\nb\x1b[31m", `a\x0ab\x1b[31m`, "未知命令"},
	} {
		for lang, want := range map[string]string{"en_US.UTF-8": tt.en, "zh_CN.UTF-8": tt.zh} {
			args := strings.Split(tt.args, " ")
			code, out, said := cli(t, lang, args...)
			if code != exitUsage || out != "" || strings.Count(said, "\n") != 1 || !strings.Contains(said, want) {
				t.Errorf("%q %s: code %d, stdout %q, stderr %q; want %q", args, lang, code, out, said, want)
			}
		}
	}
}

func TestHelpSpeaksTheLanguage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--help"}, {"help", "audit"}, {"audit"}, {"audit", "list", "-h"}, {"completion", "--help"}} {
		code, out, said := cli(t, "zh_CN.UTF-8", args...)
		if code != 0 || said != "" || !strings.Contains(out, "用法：") {
			t.Errorf("%q: code %d, stderr %q, stdout:\n%s", args, code, said, out)
		}
		for _, theirs := range []string{"Usage", "Available", "Flags:", "help for", "default", "Use \""} {
			if strings.Contains(out, theirs) {
				t.Errorf("%q: says %q:\n%s", args, theirs, out)
			}
		}
	}
	if _, out, _ := cli(t, "en_US.UTF-8", "completion", "bash"); !strings.Contains(out, "__complete") {
		t.Errorf("no completion script: %.200s", out)
	}
}

func TestConfigFlag(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"": "", "chat": "", "--config a chat": "a", "chat --config=b": "b", "--config a --config=b": "b", "exec -- --config a": "", "--config": "",
	} {
		if got := configFlag(strings.Fields(args)); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

func TestRecordLine(t *testing.T) {
	t.Parallel()
	say, err := texts.New("en")
	if err != nil {
		t.Fatal(err)
	}
	code := 3
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	loss := audit.Loss(audit.Head{Seq: 9, Hash: "h"})
	loss.Seq, loss.Time = 5, at
	for _, tt := range []struct {
		record audit.Record
		want   string
	}{
		{audit.Record{Seq: 1, Kind: audit.Outcome, Caller: "local:ann", Role: "admin", Tool: "run_command", Status: "ok", ExitCode: &code},
			"1 TIME outcome local:ann admin run_command ok exit=3 -"},
		{audit.Record{Seq: 2, Kind: audit.Refusal, Verdict: "deny", Status: "permission_denied", Reason: `tools.denied "run_command" "admin" "guest"`, Args: []byte(`{"command":"id"}`)},
			`2 TIME refusal - - - deny/permission_denied - [permission denied: run_command is for role admin, you are guest] {"command":"id"}`},
		{audit.Record{Seq: 3, Kind: audit.Refusal, Verdict: "confirm", Status: "approval_denied", Rule: "own_files", Reason: `guard.approval_denied "guard.own_read"`, Command: "a\nb"},
			`3 TIME refusal - - - confirm/approval_denied own_files [` + say.Say("guard.approval_denied", say.Say("guard.own_read", "…")) + `] a\x0ab`},
		// Written by another version, or cut off: the status has to do.
		{audit.Record{Seq: 4, Kind: audit.Refusal, Status: "s", Reason: `tools.denied "run_command"`, Command: "x"}, "4 TIME refusal - - - s - x"},
		{audit.Record{Seq: 4, Kind: audit.Refusal, Status: "s", Reason: `tools.denied "run_comm ... [9 bytes]`, Command: "x"}, "4 TIME refusal - - - s - x"},
		{audit.Record{Seq: 4, Kind: audit.Refusal, Status: "s", Reason: "no.such_id", Command: "x"}, "4 TIME refusal - - - s - x"},
		{loss, "5 TIME event - - - records_lost - [" + say.Error(audit.LossOf(&loss)) + "]"},
	} {
		tt.record.Time = at
		want := strings.Replace(tt.want, "TIME", "2026-03-04T13:06:07+08:00", 1)
		if got := recordLine(say, time.FixedZone("", 8*3600), &tt.record); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

package offline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/maishell/maishell/llm"
)

func newModel(t *testing.T) *Model {
	t.Helper()
	m := New()
	return m
}

var offered = []llm.ToolSpec{{Name: "run_command"}, {Name: infoTool}}

func ask(t *testing.T, m *Model, tools []llm.ToolSpec, messages ...llm.Message) llm.Message {
	t.Helper()
	streamed := ""
	got, err := m.Complete(t.Context(), llm.Request{Messages: messages, Tools: tools}, func(s string) { streamed += s })
	if err != nil || got.Role != "assistant" || streamed != got.Content {
		t.Fatalf("%+v, %v, streamed %q", got, err, streamed)
	}
	return got
}

func user(text string) llm.Message { return llm.Message{Role: "user", Content: text} }

func TestFirstRound(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for text, want := range map[string]string{
		"how full is the disk?":             `{"topics":["disk"]}`,
		"8080端口被谁占用":                        `{"topics":["listeners"],"port":8080}`,
		"C盘还剩多少空间":                          `{"topics":["disk"],"path":"C:\\"}`,
		"how long has this server been up?": `{"topics":["host"]}`,
		"server status":                     `{"topics":["host","load","memory","disk"]}`,
		"top 3 processes by memory":         `{"topics":["processes"],"limit":3}`,
		"is nginx running?":                 `{"topics":["processes"],"name":"nginx"}`,
		"what is eating the memory?":        `{"topics":["processes"]}`,
		"how much memory and disk is left?": `{"topics":["memory","disk"]}`,
	} {
		got := ask(t, m, offered, llm.Message{Role: "system", Content: "磁盘"}, user("old question"), llm.Message{Role: "tool", Content: "{}"},
			llm.Message{Role: "assistant", Content: "old answer"}, user(text))
		if len(got.ToolCalls) != 1 || got.ToolCalls[0].Name != infoTool || got.ToolCalls[0].Arguments != want || got.ToolCalls[0].ID == "" || got.Content != "" {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
}

func TestWithoutTheTool(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for text, want := range map[string]string{"how full is the disk?": "your role may not use it", "磁盘还剩多少": "你的角色不能使用它"} {
		if got := ask(t, m, offered[:1], user(text)); !strings.Contains(got.Content, want) || got.ToolCalls != nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestEverythingElse(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for text, want := range map[string]string{"delete the disk image": "No model is configured", "写一首诗": "没有配置模型", "": "No model is configured"} {
		if got := ask(t, m, offered, user(text)); !strings.Contains(got.Content, want) || !strings.Contains(got.Content, "/run") || got.ToolCalls != nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := ask(t, m, offered); !strings.Contains(got.Content, "No model") {
		t.Errorf("no messages: %+v", got)
	}
}

// TestLanguage: the question's, or when it shows none the interface's, which is the system prompt's.
func TestLanguage(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for _, c := range []struct{ system, text, want string }{
		{"You are", "8080端口被谁占用", "zh"}, {"你是", "8080端口被谁占用", "zh"}, {"You are", "写一首诗", "zh"},
		{"你是", "how full is the disk?", "en"}, {"你是", "disk", "en"}, {"你是", "is nginx running?", "en"}, {"你是", "port 99999", "en"},
		{"你是", "df", "zh"}, {"你是", "CPU", "zh"}, {"You are", "df", "en"}, {"", "df", "en"},
		{"你是", "sing me a song", "zh"}, {"你是", "help", "zh"}, {"You are", "help", "en"}, {"You are", "帮助", "zh"}, {"You are", "", "en"}, {"你是", "", "zh"},
	} {
		messages := []llm.Message{user(c.text)}
		if c.system != "" {
			messages = []llm.Message{{Role: "system", Content: c.system}, user(c.text)}
		}
		got := "en"
		if chinese(ask(t, m, nil, messages...).Content) {
			got = "zh"
		}
		if got != c.want {
			t.Errorf("%q after %q: %s, want %s", c.text, c.system, got, c.want)
		}
	}
}

func TestAnswersWithoutTheTool(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for text, want := range map[string]string{
		"port 99999": "Ports are 1 to 65535.", "端口 99999": "端口范围是 1 到 65535。", "help": "/quit", "Quit!": "/help", "帮助": "/quit（/退出）",
		"write a poem": "A model cannot be configured in this version yet.", "写诗": "本版本还不能配置模型。",
	} {
		if got := ask(t, m, offered, user(text)); !strings.Contains(got.Content, want) || got.ToolCalls != nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Complete(ctx, llm.Request{Messages: []llm.Message{user("df")}, Tools: offered}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

const full = `<data>
{"success":true,"status":"ok",
"host":{"name":"box","system":"linux","platform":"Debian GNU/Linux 12","kernel":"6.1.0","architecture":"amd64","uptime_seconds":277260},
"cpu":{"model":"Fast\u001b[2J CPU","logical_cores":2,"used_percent":12.5},
"memory":{"total_bytes":16777216000,"available_bytes":8589934592,"used_bytes":8187281408,"used_percent":48.8,"swap_total_bytes":1073741824,"swap_used_bytes":0},
"disk":[{"mount":"/","device":"/dev/vda1","type":"ext4","total_bytes":107374182400,"used_bytes":53687091200,"free_bytes":48318382080,"used_percent":52.6},
 {"mount":"/mnt/nfs","device":"n:/x","type":"nfs","total_bytes":0,"used_bytes":0,"free_bytes":0,"used_percent":0,"note":"does not answer"}],
"load":{"one":0.52,"five":1,"fifteen":0,"logical_cores":2},
"processes":{"total":3,"by_cpu":[{"pid":7,"name":"nginx","user":"www","cpu_percent":99.5,"memory_bytes":10485760},{"pid":1,"name":"init","user":"root","cpu_percent":0,"memory_bytes":1023}],
 "by_memory":[{"pid":9,"name":"java.exe","cpu_percent":1,"memory_bytes":2147483648},{"pid":7,"name":"nginx","user":"www","cpu_percent":99.5,"memory_bytes":10485760}]},
"listeners":[{"protocol":"tcp","address":"0.0.0.0","port":8080,"pid":7,"program":"nginx","user":"www"},{"protocol":"tcp6","address":"::","port":8080}],
"notes":["1 owner unknown"]}
</data>`

func TestAnswers(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for text, want := range map[string]string{
		"how full is the disk?": "/: 52.6% used, 45.0 GiB free of 100.0 GiB\n/mnt/nfs: does not answer\nNote: 1 owner unknown",
		"磁盘还剩多少？":               "/：已用 52.6%，剩余 45.0 GiB，共 100.0 GiB\n/mnt/nfs：does not answer\n说明：1 owner unknown",
		"how full is /var?":     "/ (holds /var): 52.6% used, 45.0 GiB free of 100.0 GiB\n/mnt/nfs (holds /var): does not answer\nNote: 1 owner unknown",
		"memory usage":          "Memory: 48.8% used, 8.0 GiB available of 15.6 GiB\nSwap: 0 B used of 1.0 GiB\nNote: 1 owner unknown",
		"负载多少":                  "负载：0.52、1.00、0.00（1、5、15 分钟），2 核\n说明：1 owner unknown",
		"cpu usage":             "CPU: 12.5% busy (cores: 2)\nProcessor: Fast [2J CPU\nNote: 1 owner unknown",
		"hostname":              "Host box: Debian GNU/Linux 12, kernel 6.1.0, amd64\nNote: 1 owner unknown",
		"开机多久了":                 "已运行 3 天 5 小时 1 分钟\n说明：1 owner unknown",
		"what is using the cpu?": "Busiest by CPU (processes in all: 3; 100% is one core):\n  nginx (pid 7, www): CPU 99.5%, memory 10.0 MiB\n" +
			"  init (pid 1, root): CPU 0%, memory 1023 B\nNote: 1 owner unknown",
		"top 1 processes by memory": "Largest in memory (processes in all: 3):\n  java.exe (pid 9, user unknown): CPU 1%, memory 2.0 GiB\nNote: 1 owner unknown",
		"memory":                    "Memory: 48.8% used, 8.0 GiB available of 15.6 GiB\nSwap: 0 B used of 1.0 GiB\nNote: 1 owner unknown",
		"who listens on port 8080?": "Port 8080:\n  0.0.0.0:8080 tcp: nginx (pid 7, www)\n  [::]:8080 tcp6: a program that maishell may not look into\nNote: 1 owner unknown",
		"哪些端口在监听":                   "正在监听的端口（2 个）：\n  0.0.0.0:8080 tcp：nginx（pid 7，www）\n  [::]:8080 tcp6：maishell 无权查看的程序\n说明：1 owner unknown",
	} {
		got := ask(t, m, offered, user(text), llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: infoTool}}},
			llm.Message{Role: "tool", ToolCallID: "1", Content: full})
		if got.Content != want || got.ToolCalls != nil {
			t.Errorf("%q:\n%s\nwant\n%s", text, got.Content, want)
		}
	}
}

func TestOddResults(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	for _, c := range []struct{ text, result, want string }{
		{"df", `{"success":false,"status":"permission_denied","error":"no\nway"}`, "The host could not tell: no way"},
		{"df", `{"success":false,"status":"cancelled"}`, "The host could not tell: cancelled"},
		{"磁盘还剩多少", `{"success":false,"status":"internal","error":"坏了"}`, "主机没能给出答案：坏了"},
		{"df", `not json`, "get_system_info gave back something that I cannot read."},
		{"df", `{"success":tru`, "get_system_info gave back something that I cannot read."},
		{"df", `}{`, "get_system_info gave back something that I cannot read."},
		{"df", `{"success":true,"status":"ok"}`, "The host did not tell anything about that."},
		{"df", `{"success":true,"status":"ok","disk":[],"notes":["disk: no access"]}`, "Note: disk: no access"},
		{"who listens on port 80?", `{"success":true,"listeners":[],"notes":["nobody listens on port 80"]}`, "Nothing listens on port 80."},
		{"who listens on port 80?", `{"success":true,"notes":["listeners: would need a program"]}`, "Note: listeners: would need a program"},
		{"is redis running?", `{"success":true,"processes":{"total":400,"matching":0,"by_cpu":[],"by_memory":[]}}`,
			"redis is not running: no process has that name (looked at: 400)."},
		{"redis 在運行嗎", `{"success":true,"processes":{"total":400,"matching":0,"by_cpu":[],"by_memory":[]}}`, "redis 没有运行：全部 400 个进程中没有这个名字。"},
		{"is redis running?", `{"success":true,"processes":{"total":400,"by_cpu":[{"pid":1,"name":"redis"}],"by_memory":[]}}`,
			"get_system_info gave back something that I cannot read."},
		{"is NGINX running?", `{"success":true,"processes":{"total":9,"matching":7,"by_cpu":[{"pid":7,"name":"nginx","user":"www","cpu_percent":99.5,"memory_bytes":10485760}],"by_memory":[]}}`,
			"NGINX is running (7 found):\n  nginx (pid 7, www): CPU 99.5%, memory 10.0 MiB\n  and 6 more"},
		{"java 在运行吗", `{"success":true,"processes":{"total":9,"matching":1,"by_cpu":[{"pid":9,"name":"java.exe","cpu_percent":1,"memory_bytes":2147483648}],"by_memory":[]}}`,
			"java 正在运行（找到 1 个）：\n  java.exe（pid 9，用户未知）：CPU 1%，内存 2.0 GiB"},
		{"swap usage", `{"success":true,"memory":{"total_bytes":1024,"available_bytes":1024,"used_percent":0}}`, "Memory: 0% used, 1.0 KiB available of 1.0 KiB\nSwap: there is none."},
		{"交換空間還剩多少", `{"success":true,"memory":{"total_bytes":1024,"available_bytes":1024,"used_percent":0}}`, "内存：已用 0%，可用 1.0 KiB，共 1.0 KiB\n交换空间：没有配置。"},
		{"swap", `{"success":true,"memory":{"total_bytes":1024,"available_bytes":1024},"notes":["memory.swap: no access"]}`, "Memory: 0% used, 1.0 KiB available of 1.0 KiB\nNote: memory.swap: no access"},
		{"memory", `{"success":true,"memory":{"total_bytes":1024,"available_bytes":1024}}`, "Memory: 0% used, 1.0 KiB available of 1.0 KiB"},
		{"uptime", `{"success":true,"host":{"uptime_seconds":59}}`, "Up for less than a minute"},
		{"how long has this server been up?", `{"success":true,"host":{"uptime_seconds":4560}}`, "Up for 1 h 16 min"},
		{"开机多久了", `{"success":true,"host":{"uptime_seconds":172800}}`, "已运行 2 天"},
		{"what is using the cpu?", `{"success":true,"processes":{"total":1,"by_cpu":[{"pid":1}],"by_memory":[]}}`,
			"Busiest by CPU (processes in all: 1; 100% is one core):\n  (no name) (pid 1, user unknown): CPU 0%, memory 0 B"},
	} {
		if got := ask(t, m, offered, user(c.text), llm.Message{Role: "tool", Content: c.result}); got.Content != c.want {
			t.Errorf("%q with %s:\n%s\nwant\n%s", c.text, c.result, got.Content, c.want)
		}
	}
	many := `{"success":true,"listeners":[` + strings.TrimSuffix(strings.Repeat(`{"protocol":"udp","address":"0.0.0.0","port":53},`, 40), ",") + `]}`
	got := ask(t, m, offered, user("open ports"), llm.Message{Role: "tool", Content: many})
	if !strings.HasSuffix(got.Content, "\n  and 10 more") || strings.Count(got.Content, "\n") != 31 {
		t.Errorf("many listeners:\n%s", got.Content)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1<<20 - 1: "1.0 MiB", 1536 << 20: "1.5 GiB", 1 << 40: "1.0 TiB", 1<<64 - 1: "16.0 EiB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 100: "100", 12.5: "12.5", 0.004: "0", 3.14159: "3.14"} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) = %q, want %q", v, got, want)
		}
	}
}

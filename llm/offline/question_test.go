package offline

import (
	"fmt"
	"strings"
	"testing"
)

// brief writes a question on one line, as the tables name it.
func brief(q question) string {
	s := strings.Join(q.topics, "+")
	if q.port != 0 {
		s += fmt.Sprint(" ", q.port)
	}
	if q.path != "" {
		s += " " + q.path
	}
	if q.by != "" {
		s += " by " + q.by
	}
	if q.top != 0 {
		s += fmt.Sprint(" top ", q.top)
	}
	if q.process != "" {
		s += " " + q.process
	}
	if q.swap {
		s += " swap"
	}
	if q.noPort {
		s += " none"
	}
	return s
}

var understood = map[string][]string{
	"listeners none": {
		"is port 0 in use?", "is port 65536 in use?", "who listens on port 99999999999?", "port 99999", "端口 99999", "99999端口被谁占用", "連接埠 70000",
	},
	"listeners 22": {"port 22", "Port 22?", "端口 22", "22端口", "22 端口", "端口22", "埠 22", "the port 22 please"},
	"memory swap":  {"swap usage", "swap", "is there any swap left?", "交换分区还剩多少", "is there swap?"},
	"disk": {
		"disk", "磁盘", "硬盘", "磁碟", "磁碟還剩多少？", "硬碟還有多少空間", "the disk", "disk please",
		"how full is the disk?", "How full is the disk", "how much disk space is left?", "how much space is left", "disk usage", "df", "df -h",
		"what's the disk usage?", "is the disk full?", "show me the disk usage", "how much free space do we have?", "free disk space",
		"check the disk space please", "disk space left?", "how much storage is used?", "hi, how full is my hard drive?",
		"what percentage of the disk is used", "can you show me the disk usage?", "is there enough disk space on this server?", "disk?",
		"磁盘还剩多少？", "磁盘还剩多少", "硬盘还有多少空间", "磁盘满了吗？", "查看磁盘使用情况", "磁盘使用率", "还剩多少磁盘空间?", "空间还剩多少", "硬盘容量多大",
		"服务器磁盘用了多少", "帮我看看磁盘空间", "磁盘快满了吗", "请问硬盘还剩多少空间？", "磁盘空间够不够用", "看一下硬盘", "磁盘占用情况怎么样",
		"现在磁盘用了百分之多少", "ＤＦ",
	},
	"disk /var":   {"how full is /var?", "/var 还剩多少空间", "is /var full?", "看看/var还剩多少空间", "how much space is left on /var"},
	`disk C:\`:    {"C盘还剩多少空间？", "how full is c:?", `how full is C:\`},
	"memory":      {"how much memory is free?", "how much ram is used", "memory usage", "free memory", "内存还剩多少", "内存使用率是多少？", "内存够用吗", "还有多少可用内存", "看看内存", "内存占用多少"},
	"load":        {"what is the load?", "load average", "how high is the load right now?", "is the load high?", "负载多少", "系统负载怎么样", "现在负载高吗"},
	"cpu":         {"cpu usage", "how busy is the cpu?", "how many cores do we have?", "CPU使用率多少", "cpu 占用率", "服务器有几核", "CPU忙不忙"},
	"host":        {"what is the hostname?", "which os is this", "hostname", "kernel version", "主机名是什么", "这台机器是什么系统", "内核版本是多少"},
	"uptime":      {"uptime", "how long has this server been up?", "when was the last reboot?", "how long has the machine been running", "开机多久了", "服务器运行了多久？", "上次重启是什么时候"},
	"memory+disk": {"disk and memory", "磁盘和内存", "disk, memory", "磁盘、内存", "内存与硬盘", "磁碟和記憶體", "how much memory and disk space is left?", "内存和磁盘还剩多少"},
	"listeners":   {"which ports are open?", "list listening ports", "what is listening?", "哪些端口在监听", "有哪些开放的端口", "查看监听端口"},
	"processes by cpu": {
		"what is using the cpu?", "which process uses the most cpu", "show me the processes", "top processes", "top", "who is hogging the cpu?",
		"谁在占用CPU", "哪个进程最占CPU", "有哪些进程在运行", "什么在吃cpu",
	},
	"processes by cpu top 10": {"top 10 processes by cpu", "show the top 10 processes", "cpu 占用最高的 10 个进程有哪些"},
	"processes by memory":     {"what is eating the memory?", "which process uses most memory", "top processes by memory", "谁占用了内存", "哪个进程占内存最多？", "内存被谁吃了"},
	"processes nginx":         {"is nginx running?", "is the nginx service still running", "is there an nginx process?", "check if nginx is running", "nginx 在运行吗？", "nginx运行了吗", "nginx 有没有在运行", "nginx进程还在跑吗", "有没有 nginx 进程", "请问nginx 是否在运行"},
	"processes php-fpm8.2":    {"is php-fpm8.2 up?", "php-fpm8.2 还活着吗"},
	"listeners 8080": {
		"who listens on port 8080?", "what is listening on 8080?", "what's on port 8080?", "is port 8080 in use?", "which process uses port 8080",
		"is port 8080 free?", "who is using port 8080", "is anything listening on port 8080?", "what is running on port 8080", "check port 8080", "is 8080 in use?",
		"8080端口被谁占用", "8080 端口被谁占用了？", "谁在监听8080端口", "端口8080被占用了吗", "哪个程序占用了 8080 端口", "８０８０端口有人用吗", "看看8080端口", "端口 8080 是谁在用", "谁在用8080",
	},
	"host+uptime+load+memory+disk": {"server status", "how is the server doing?", "服务器状态怎么样", "系统状态"},
}

func TestUnderstands(t *testing.T) {
	t.Parallel()
	words, err := loadLexicon(lexiconFile, traditionalFile)
	if err != nil {
		t.Fatal(err)
	}
	for want, phrasings := range understood {
		for _, text := range phrasings {
			q, ok := words.understand(text)
			if got := brief(q); !ok || got != want {
				t.Errorf("%q: %v %q (kinds %v), want %q", text, ok, got, words.read(strings.ToLower(text)), want)
			}
		}
	}
}

func TestDoubts(t *testing.T) {
	t.Parallel()
	words, err := loadLexicon(lexiconFile, traditionalFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "   ", "hello", "thanks", "?", "what can you do?", "你好", "谢谢", "你是谁",
		// deeds
		"delete the disk image", "format the disk", "free up disk space", "clean the disk", "free the memory", "open port 8080", "close port 8080",
		"kill whatever listens on port 8080", "use port 8080", "restart nginx", "stop the process on port 8080", "run df", "resize the disk", "mount the disk",
		"load the program", "buy more memory", "please delete the disk image and show the disk usage",
		"删除磁盘镜像", "格式化硬盘", "清理磁盘空间", "打开端口 8080", "关闭8080端口", "重启 nginx", "杀掉占用8080端口的进程", "扩容磁盘", "释放内存", "磁盘清理一下",
		// statements
		"the disk is full", "the disk is full!", "磁盘满了", "nginx is running", "nginx 在运行", "port 8080 is taken", "8080端口被占用了", "memory is free", "内存不够用了",
		// other things, other places, other times
		"how full is the disk image of vm3?", "how full is the disk on db-3?", "how full was the disk yesterday?", "how much memory does a goldfish have?",
		"how much does a disk cost?", "内存条多少钱", "磁盘多少钱", "what is a port?", "which port is best for wine", "is port 8080 open on example.com?", "is 10.0.0.1:8080 in use?",
		"how do i check the disk usage?", "how to free memory", "why is the disk full?", "为什么磁盘满了？", "怎么查看磁盘空间", "如何清理内存",
		"what is using the disk?", "谁占用了磁盘空间", "what is /etc/passwd", "/etc/passwd 是什么", "how full is the glass?", "how full is /var and /home?",
		"8080", "22", "room", "program", "任务", "disk full", "help disk", "disk and help", "disk 5", "port 22 80", "刪除磁碟", "磁碟滿了", "is it running?", "is the server up?", "is this thing running?", "服务器在运行吗", "is my job running?",
		"is 99999 in use?", "who listens on ports 80 and 443?", "8080.5端口被谁占用", "port 80% in use?",
		"top 500 processes", "what is the disk usage of process 7", "how much memory is left in 2030?",
		"how full is the disk?\nand delete it", "is ../../bin/sh running?", "is nginx; rm running?", "is 8080 running?", "is 5 free?",
		strings.Repeat("how full is the disk? ", 10),
	} {
		if q, ok := words.understand(text); ok {
			t.Errorf("%q was read as %q", text, brief(q))
		}
	}
}

func TestIsCommand(t *testing.T) {
	t.Parallel()
	words, err := loadLexicon(lexiconFile, traditionalFile)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"help": true, "Help!": true, " quit ": true, "exit": true, "帮助": true, "退出。": true, "幫助": true, "離開": true, "ｈｅｌｐ？": true,
		"help me": false, "helper": false, "": false, "disk": false, "quit the shell": false,
	} {
		if words.isCommand(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestLexiconErrors(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"a = [", "a = 1", `a = [""]`} {
		if _, err := loadLexicon([]byte(data), nil); err == nil {
			t.Errorf("%q was accepted", data)
		}
	}
	for _, data := range []string{"a = [", "a = 1", `"" = "a"`} {
		if _, err := loadLexicon(nil, []byte(data)); err == nil {
			t.Errorf("%q was accepted as traditional", data)
		}
	}
}

func FuzzUnderstand(f *testing.F) {
	words, err := loadLexicon(lexiconFile, traditionalFile)
	if err != nil {
		f.Fatal(err)
	}
	for _, phrasings := range understood {
		for _, text := range phrasings {
			f.Add(text)
		}
	}
	f.Add("\xff\xfe 磁盘 \x00?")
	f.Fuzz(func(t *testing.T, text string) {
		q, ok := words.understand(text)
		if !ok {
			return
		}
		again, _ := words.understand(text)
		switch {
		case brief(q) != brief(again):
			t.Fatalf("%q: %q, then %q", text, brief(q), brief(again))
		case len(q.topics) == 0, q.port < 0 || q.port > 65535, q.top < 0 || q.top > maxTop:
			t.Fatalf("%q: %+v", text, q)
		}
	})
}

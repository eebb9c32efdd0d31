package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkReady measures the stripped binary as a user starts it: milliseconds from exec to the first reply of a piped
// chat (median), beside /bin/true started the same way; resident memory of the idle chat; size of the file.
func BenchmarkReady(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "maishell")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	home := b.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + home,
		"MAISHELL_STORE__DIR=" + home + "/state", "MAISHELL_FILES__WORKSPACE=" + home + "/files"}
	const rounds = 50
	var ready, floor []time.Duration
	var rss int
	for b.Loop() {
		for round := range rounds {
			start := time.Now()
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
			floor = append(floor, time.Since(start))
			d, kb := firstReply(b, bin, home, env, round == rounds-1)
			ready = append(ready, d)
			rss = kb
		}
	}
	info, err := os.Stat(bin)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ready).Seconds()*1000, "ready-ms")
	b.ReportMetric(median(floor).Seconds()*1000, "true-ms")
	b.ReportMetric(float64(rss)/1024, "idle-rss-MiB")
	b.ReportMetric(float64(info.Size())/1e6, "size-MB")
}

// firstReply starts a piped chat, asks /whoami and returns how long the first byte of the reply took. With idle it also waits
// until the chat has given back what only its start needed, and returns the resident memory in KiB.
func firstReply(b *testing.B, bin, dir string, env []string, idle bool) (time.Duration, int) {
	c := exec.Command(bin, "chat")
	c.Dir, c.Env = dir, env
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	start := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	fmt.Fprintln(in, "/whoami")
	r := bufio.NewReader(out)
	if _, err := r.ReadByte(); err != nil {
		b.Fatalf("no reply: %v\n%s", err, errs.String())
	}
	d := time.Since(start)
	kb := 0
	if idle {
		<-time.After(3 * time.Second)
		kb = residentKiB(b, c.Process.Pid)
	}
	in.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		b.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		b.Fatalf("chat: %v\n%s", err, errs.String())
	}
	return d, kb
}

func residentKiB(b *testing.B, pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return kb
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

//go:build unix

package screen_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/maishell/maishell/executor/keys"
	"github.com/maishell/maishell/executor/pty"
	"github.com/maishell/maishell/executor/screen"
)

const patience = 20 * time.Second

// program is a real one on a terminal, with somebody who looks at its screen.
type program struct {
	t        *testing.T
	terminal *pty.Terminal
	screen   *screen.Screen
	cmd      *exec.Cmd
	read     sync.WaitGroup
	exited   chan struct{}
}

// start runs the program, or skips the test where there is none.
func start(t *testing.T, name string, args ...string) *program {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		file, err = exec.LookPath(name + ".tiny") // vim is called so in small installations
	}
	if err != nil {
		t.Skip(err)
	}
	size := pty.Size{Cols: 80, Rows: 24}
	terminal, err := pty.Open(size)
	if err != nil {
		t.Skip(err)
	}
	p := &program{t: t, terminal: terminal, screen: screen.New(size.Cols, size.Rows), cmd: exec.Command(file, args...), exited: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = terminal.TTY(), terminal.TTY(), terminal.TTY()
	p.cmd.Env = []string{"PATH=/usr/bin:/bin", "TERM=" + screen.Term, "LC_ALL=C.UTF-8", "HOME=" + t.TempDir()}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	terminal.Attach(p.cmd.SysProcAttr)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Started()
	p.read.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := terminal.Read(buf)
			_, _ = p.screen.Write(buf[:n])
			if reply := p.screen.Replies(); reply != nil {
				_, _ = terminal.Send(reply, patience)
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("read: %v", err)
				}
				return
			}
		}
	})
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		_ = terminal.Close()
		p.read.Wait()
	})
	return p
}

// press sends keys as the program wants them now.
func (p *program) press(names ...string) {
	p.t.Helper()
	sent, err := keys.Parse(names, keys.Modes{AppCursor: p.screen.Modes().AppCursor})
	if err == nil {
		_, err = p.terminal.Send(sent, patience)
	}
	if err != nil {
		p.t.Fatalf("%v: %v", names, err)
	}
}

func (p *program) types(text string) {
	p.t.Helper()
	sent, err := keys.Paste(text, p.screen.Modes().BracketedPaste)
	if err == nil {
		_, err = p.terminal.Send(sent, patience)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// sees waits until the screen is as it should be.
func (p *program) sees(what string, ok func(s screen.Snapshot) bool) {
	p.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		shot := p.screen.Snapshot()
		if ok(shot) {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("never saw %s:\n%s", what, shot.Text())
		}
	}
}

func (p *program) ends() {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("does not end:\n%s", p.screen.Snapshot().Text())
	}
}

func has(line int, text string) func(screen.Snapshot) bool {
	return func(s screen.Snapshot) bool { return strings.Contains(s.Lines[line], text) }
}

// TestVim writes a file with vim, looking at the screen.
func TestVim(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file.txt")
	p := start(t, "vim", "-u", "NONE", "-i", "NONE", "-n", "--cmd", "set nocompatible showmode encoding=utf-8", file)
	p.sees("an empty file", func(s screen.Snapshot) bool {
		return s.Alternate && strings.HasPrefix(s.Lines[1], "~") && strings.Contains(s.Lines[23], "file.txt")
	})
	p.press("i")
	p.sees("insert mode", has(23, "-- INSERT --"))
	p.types("first line\nsecond 中文 line")
	p.sees("the text", func(s screen.Snapshot) bool {
		return s.Lines[0] == "first line" && s.Lines[1] == "second 中文 line" && s.CursorY == 1 && s.CursorX == 16
	})
	p.press("Up", "Home")
	p.sees("the cursor at the top", func(s screen.Snapshot) bool { return s.CursorX == 0 && s.CursorY == 0 })
	p.types("very ")
	p.press("Escape", "G", "d", "d", "P")
	p.sees("the lines the other way round", func(s screen.Snapshot) bool {
		return s.Lines[0] == "second 中文 line" && s.Lines[1] == "very first line"
	})
	p.press("Escape", ":", "w", "q", "Enter")
	p.ends()
	if got, err := os.ReadFile(file); err != nil || string(got) != "second 中文 line\nvery first line\n" {
		t.Errorf("%q %v", got, err)
	}
	p.sees("the main screen again", func(s screen.Snapshot) bool { return !s.Alternate })
}

// TestLess pages through a long file.
func TestLess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "long.txt")
	var text strings.Builder
	for i := range 500 {
		text.WriteString("row " + strings.Repeat("x", i%7) + " number " + string(rune('A'+i%26)) + "\n")
	}
	text.WriteString(strings.Repeat("中文", 30) + "\nlast\n")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "less", file)
	p.sees("the first page", func(s screen.Snapshot) bool { return s.Lines[0] == "row  number A" && s.Lines[22] == "row x number W" })
	p.press("PageDown")
	p.sees("the second page", func(s screen.Snapshot) bool { return s.Lines[0] == "row xx number X" })
	p.press("Up")
	p.sees("a row up", func(s screen.Snapshot) bool { return s.Lines[0] == "row x number W" && s.Lines[1] == "row xx number X" })
	p.press("G")
	p.sees("the end", func(s screen.Snapshot) bool {
		return s.Lines[22] == "last" && s.Lines[21] == strings.Repeat("中文", 10) && s.Lines[20] == strings.Repeat("中文", 20)
	})
	p.press("g")
	p.sees("the beginning", func(s screen.Snapshot) bool { return s.Lines[0] == "row  number A" })
	p.press("q")
	p.ends()
}

// TestTop looks at a program that draws by itself, and resizes it.
func TestTop(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip(err)
	}
	p := start(t, "top", "-d", "0.2")
	table := func(s screen.Snapshot) bool {
		return strings.HasPrefix(s.Lines[0], "top - ") && strings.Contains(s.Lines[6], "PID") && strings.Contains(s.Lines[6], "COMMAND")
	}
	p.sees("the table", table)
	p.screen.Resize(120, 40)
	if err := p.terminal.SetSize(pty.Size{Cols: 120, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	p.press("h")
	p.sees("the help", func(s screen.Snapshot) bool { return strings.Contains(s.Text(), "Help for Interactive Commands") })
	p.press("Escape")
	p.sees("the table again", table)
	p.press("q")
	p.ends()
}

// TestQuestion answers a program that asks where its cursor is.
func TestQuestion(t *testing.T) {
	t.Parallel()
	p := start(t, "sh", "-c", `stty raw -echo min 6 time 50; printf 'ab\033[6n'; got=$(dd bs=6 count=1 2>/dev/null | tail -c 5); stty sane; echo; echo "got $got"`)
	p.sees("the answer", func(s screen.Snapshot) bool { return strings.Contains(s.Text(), "got [1;3R") })
	p.ends()
}

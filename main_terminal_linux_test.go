package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// onTerminal STEPS COMMAND... runs a program on a terminal of its own, 80 columns wide. The file STEPS has one step on
// each line: "expect TEXT" waits until TEXT comes after what was expected before, "send TEXT" types TEXT, "never TEXT" checks at the
// end that TEXT did not come at all, "hangup" closes the terminal; TEXT is as in Go between quotes. In the end the program must have ended; with ! its exit
// status is not 0.
func onTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] onterminal STEPS COMMAND...")
	}
	master, slave, err := openTerminal()
	ts.Check(err)
	screen := &output{}
	cmd := exec.Command(lookPath(ts, args[1]), args[2:]...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), environ(ts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	_ = slave.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		screen.readAll(master)
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Kill()
		_ = master.Close()
		<-read
	}()
	var never []string
	for n, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		step, text, _ := strings.Cut(line, " ")
		text, err := strconv.Unquote(`"` + text + `"`)
		if err != nil {
			ts.Fatalf("%s:%d: %v", args[0], n+1, err)
		}
		switch step {
		case "expect":
			screen.expect(ts, text)
		case "send":
			_, err := master.WriteString(text)
			ts.Check(err)
		case "never":
			never = append(never, text)
		case "hangup":
			_ = master.Close()
		default:
			ts.Fatalf("%s:%d: there is no step %q", args[0], n+1, step)
		}
	}
	select {
	case err = <-ended:
	case <-time.After(20 * time.Second):
		ts.Fatalf("it still runs: %q", screen.String())
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || !neg) || err == nil && neg {
		ts.Fatalf("ended with %v (%v): %q", err, exit, screen.String())
	}
	for _, text := range never {
		if strings.Contains(screen.String(), text) {
			ts.Fatalf("%q came: %q", text, screen.String())
		}
	}
}

// output is what came to a terminal.
type output struct {
	mu   sync.Mutex
	all  []byte
	seen int
}

func (o *output) readAll(f *os.File) {
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		o.mu.Lock()
		o.all = append(o.all, buf[:n]...)
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.all)
}

// passed goes on behind the next text, if it is there.
func (o *output) passed(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := strings.Index(string(o.all[o.seen:]), text)
	if i >= 0 {
		o.seen += i + len(text)
	}
	return i >= 0
}

func (o *output) expect(ts *testscript.TestScript, text string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !o.passed(text); <-tick.C {
		if time.Now().After(deadline) {
			ts.Fatalf("%q did not come: %q", text, o)
		}
	}
}

func openTerminal() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = master.Close()
	}
	return master, slave, err
}

// lookPath finds a program in the script's PATH.
func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, name); !strings.Contains(name, "/") && isProgram(path) {
			return path
		}
	}
	ts.Fatalf("there is no program %s", name)
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// environ is the script's environment as far as maishell reads it.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "LANG", "TERM", "WORK", "MAISHELL_STORE__DIR", "MAISHELL_FILES__WORKSPACE", "MAISHELL_LLM__BASE_URL", "MAISHELL_LLM__MODEL",
	} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

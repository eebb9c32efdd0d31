// Package floor drives the C program that the figures of BENCHMARKS.md are ratios to: the least that has to be done to
// run a command and read what it prints. Only benchmarks import it.
package floor

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/spawn_floor.c
var source []byte

// Floor is the program, waiting for orders (see spawn_floor.c).
type Floor struct {
	b   testing.TB
	in  *bufio.Writer
	out *bufio.Scanner
}

// Start compiles the program and starts it with the environment env; it ends with the benchmark. Without a C compiler
// the benchmark is skipped.
func Start(b testing.TB, env []string) *Floor {
	b.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		b.Skip("no C compiler")
	}
	program := filepath.Join(b.TempDir(), "floor")
	if err := os.WriteFile(program+".c", source, 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O2", "-pthread", "-o", program, program+".c").CombinedOutput(); err != nil { //nolint:noctx // a compiler ends
		b.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program) //nolint:noctx // ends when its stdin does
	cmd.Env = env
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &Floor{b: b, in: bufio.NewWriter(in), out: bufio.NewScanner(out)}
}

// Order sends one line.
func (f *Floor) Order(line string) {
	f.b.Helper()
	fmt.Fprintln(f.in, line)
	if err := f.in.Flush(); err != nil {
		f.b.Fatal(err)
	}
}

// Answer returns the numbers of the next line.
func (f *Floor) Answer() []int64 {
	f.b.Helper()
	if !f.out.Scan() {
		f.b.Fatal("the floor program ended")
	}
	var numbers []int64
	for _, field := range strings.Fields(f.out.Text()) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			f.b.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

package store

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/maishell/maishell/audit"
)

// The test binary is its own helper program: with this variable set it does what the variable says and exits.
const helperVar = "MAISHELL_STORE_TEST_HELPER"

func TestMain(m *testing.M) {
	if job := os.Getenv(helperVar); job != "" {
		if err := help(job, os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func help(job, dir string, args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	id, err := s.Begin(ctx, job)
	if err != nil {
		return err
	}
	switch job {
	case "begin":
	case "append": // n records, or without end; says which are committed
		n := -1
		if len(args) > 0 {
			if n, err = strconv.Atoi(args[0]); err != nil {
				return err
			}
		}
		for i := 0; i != n; i++ {
			r, err := s.Append(ctx, audit.Record{Kind: audit.Intent, Call: fmt.Sprintf("%s-%d", id, i), Instance: id, Tool: "t"})
			if err != nil {
				return err
			}
			fmt.Println(r.Seq, r.Call)
			if n >= 0 {
				if _, err := s.Append(ctx, audit.Record{Kind: audit.Outcome, Call: r.Call, Instance: id}); err != nil {
					return err
				}
			}
		}
	}
	return s.Close()
}

func helper(t *testing.T, job, dir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), helperVar+"="+job)
	cmd.Stderr = os.Stderr
	return cmd
}

// killedWriter lets a process append without end, kills it after some records and returns the last line it wrote.
func killedWriter(t *testing.T, dir string, records int) (lastSeq int64, lastCall string) {
	t.Helper()
	cmd := helper(t, "append", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		if i == records {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		var seq int64
		var call string
		if _, err := fmt.Sscan(lines.Text(), &seq, &call); err == nil {
			lastSeq, lastCall = seq, call
		}
	}
	_ = cmd.Wait() // killed
	if lastSeq < int64(records) {
		t.Fatalf("the writer ended after record %d", lastSeq)
	}
	return lastSeq, lastCall
}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func add(t *testing.T, s *Store, records ...audit.Record) []audit.Record {
	t.Helper()
	for i, r := range records {
		got, err := s.Append(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		records[i] = got
	}
	return records
}

// raw runs statements on the database of a closed store, as someone with another program would.
func raw(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := openDB(dir + "/" + databaseName)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func mustVerify(t *testing.T, s *Store) Report {
	t.Helper()
	report, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func count(t *testing.T, s *Store, query string, args ...any) int {
	t.Helper()
	var n int
	if err := each(t.Context(), s.readers, query, args, func(rows *sql.Rows) error { return rows.Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}

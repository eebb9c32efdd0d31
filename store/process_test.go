package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/maishell/maishell/audit"
)

func TestManyProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // the database does not exist yet: they also race to create it
	var cmds []*exec.Cmd
	for range 8 {
		cmd := helper(t, "append", dir, "100")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, dir)
	if r := mustVerify(t, s); r.Problem != nil || r.Records != 8*200 || r.HeadFile != "ok" {
		t.Errorf("Verify: %+v", r)
	}
	if n := count(t, s, "SELECT count(*) FROM instances"); n != 0 {
		t.Errorf("%d instances are still listed", n)
	}
}

// What was acknowledged is there after kill -9, the chain holds, and the calls without outcome are ended exactly once
// by whoever starts next, however many start at once.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lastSeq, lastCall := killedWriter(t, dir, 50)
	func() {
		s := open(t, dir)
		if got, err := s.Get(t.Context(), lastSeq); err != nil || got.Call != lastCall {
			t.Errorf("acknowledged record %d (%s): %+v, %v", lastSeq, lastCall, got, err)
		}
		if r := mustVerify(t, s); r.Problem != nil || r.Records < lastSeq {
			t.Errorf("Verify: %+v", r)
		}
	}()
	var cmds []*exec.Cmd
	for range 4 {
		cmd := helper(t, "begin", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, dir)
	intents := count(t, s, "SELECT count(*) FROM audit WHERE kind='intent'")
	ends := count(t, s, "SELECT count(*) FROM audit WHERE kind='event' AND status='interrupted'")
	calls := count(t, s, "SELECT count(DISTINCT call) FROM audit WHERE status='interrupted' AND tool='t'")
	if intents != ends || intents != calls {
		t.Errorf("%d intents, %d ends for %d calls", intents, ends, calls)
	}
	if r := mustVerify(t, s); r.Problem != nil {
		t.Errorf("Verify: %+v", r)
	}
}

func TestInstances(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	id, err := s.Begin(t.Context(), "chat")
	if err != nil || id == "" {
		t.Fatal(id, err)
	}
	if again, err := s.Begin(t.Context(), "chat"); err != nil || again != id {
		t.Errorf("second Begin: %q, %v", again, err)
	}
	add(t, s, audit.Record{Kind: audit.Intent, Call: "a", Instance: id}, audit.Record{Kind: audit.Intent, Call: "b", Instance: id},
		audit.Record{Kind: audit.Outcome, Call: "a", Instance: id})

	other := open(t, dir)
	if _, err := other.Begin(t.Context(), "exec"); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, "SELECT count(*) FROM audit WHERE kind='event'"); n != 0 {
		t.Fatalf("a call of a living process was ended")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, other, "SELECT count(*) FROM instances WHERE id=?", id); n != 1 {
		t.Error("an instance with an open call is no longer listed")
	}
	add(t, other, audit.Record{Kind: audit.Event})

	// The same pid, but started at another time, is another process.
	raw(t, dir, fmt.Sprintf("UPDATE instances SET start_time='x' WHERE id=%q", id))
	third := open(t, dir)
	if _, err := third.Begin(t.Context(), "exec"); err != nil {
		t.Fatal(err)
	}
	records, err := third.List(t.Context(), Filter{Call: "b"})
	if err != nil || len(records) != 2 || records[1].Status != StatusInterrupted || records[1].Kind != audit.Event {
		t.Errorf("open call: %+v, %v", records, err)
	}
	if records, err := third.List(t.Context(), Filter{Call: "a"}); err != nil || len(records) != 2 {
		t.Errorf("finished call: %+v, %v", records, err)
	}
	if n := count(t, third, "SELECT count(*) FROM instances"); n != 2 {
		t.Errorf("%d instances are listed, want the two that live", n)
	}
}

func TestProcessStart(t *testing.T) {
	t.Parallel()
	own, err := processStart(os.Getpid())
	if err != nil || own == "" {
		t.Fatalf("own start: %q, %v", own, err)
	}
	if again, err := processStart(os.Getpid()); err != nil || again != own {
		t.Errorf("own start is %q, then %q (%v)", own, again, err)
	}
	cmd := helper(t, "append", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	child, err := processStart(pid)
	if err != nil || child == "" || child == own {
		t.Errorf("child's start: %q, %v", child, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		if _, err := out.Read(buf); err != nil {
			break // all its descriptors are closed: it has ended, but is not reaped
		}
	}
	_ = cmd.Wait()
	if gone, err := processStart(pid); err != nil || gone != "" {
		t.Errorf("start of an ended process: %q, %v", gone, err)
	}
}

// A conversation belongs to one living instance at a time.
func TestClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *Store {
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Begin(t.Context(), "chat"); err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := open(), open()
	for range 2 {
		if err := first.Claim(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	var taken *Error
	if err := second.Claim(t.Context(), "s"); !errors.As(err, &taken) || taken.Code != "store.session_open" || taken.Args[1] != os.Getpid() {
		t.Errorf("%v", err)
	}
	if err := second.Claim(t.Context(), "another"); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Claim(t.Context(), "s"); err != nil {
		t.Errorf("a closed chat still has it: %v", err)
	}
	// A process that died is not asked.
	if _, err := second.conn.ExecContext(t.Context(), "UPDATE instances SET start_time='0'"); err != nil {
		t.Fatal(err)
	}
	third := open()
	if err := third.Claim(t.Context(), "s"); err != nil {
		t.Errorf("a dead process still has it: %v", err)
	}
	for _, s := range []*Store{second, third} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

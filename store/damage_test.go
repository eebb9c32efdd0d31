package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maishell/maishell/audit"
)

// filled makes a closed store with five records in which every column is set.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, full(1), full(2), full(3), full(4), full(5))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestVerifyFindsDamage(t *testing.T) {
	t.Parallel()
	const rewind = "UPDATE head SET seq=4, hash=(SELECT hash FROM audit WHERE seq=4)"
	cases := map[string]struct {
		statements []string
		want       audit.Problem
	}{
		"deleted row":    {[]string{"DELETE FROM audit WHERE seq=3"}, audit.Problem{Seq: 3, Fault: audit.Missing}},
		"deleted first":  {[]string{"DELETE FROM audit WHERE seq=1"}, audit.Problem{Seq: 2, Fault: audit.Unanchored}},
		"deleted newest": {[]string{"DELETE FROM audit WHERE seq=5"}, audit.Problem{Seq: 5, Fault: audit.Truncated}},
		"deleted newest and its head": {[]string{"DELETE FROM audit WHERE seq=5", rewind},
			audit.Problem{Seq: 5, Fault: audit.Truncated}},
		"deleted all": {[]string{"DELETE FROM audit", "UPDATE head SET seq=0, hash=''"}, audit.Problem{Seq: 1, Fault: audit.Truncated}},
		"head moved":  {[]string{rewind}, audit.Problem{Seq: 4, Fault: audit.Headless}},
		"swapped rows": {[]string{"UPDATE audit SET seq=-1 WHERE seq=2", "UPDATE audit SET seq=2 WHERE seq=3",
			"UPDATE audit SET seq=3 WHERE seq=-1"}, audit.Problem{Seq: 2, Fault: audit.Edited}},
		"renumbered": {[]string{"UPDATE audit SET seq=seq+1 WHERE seq=5"}, audit.Problem{Seq: 5, Fault: audit.Missing}},
	}
	for column := range strings.SplitSeq(columns, ", ") {
		if column == "seq" {
			continue
		}
		statement := fmt.Sprintf("UPDATE audit SET %s = %[1]s || 'x' WHERE seq=3", column)
		if column == "time" || column == "exit_code" {
			statement = fmt.Sprintf("UPDATE audit SET %s = %[1]s + 1 WHERE seq=3", column)
		}
		cases["edited "+column] = struct {
			statements []string
			want       audit.Problem
		}{[]string{statement}, audit.Problem{Seq: 3, Fault: audit.Edited}}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t)
			raw(t, dir, c.statements...)
			if r := mustVerify(t, open(t, dir)); r.Problem == nil || *r.Problem != c.want {
				t.Errorf("found %v, want %v", r.Problem, c.want)
			}
		})
	}
}

// A byte changed anywhere in the pages that hold the records is an error or a problem, never a clean report with
// other records.
func TestVerifyFindsFlippedBytes(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	path := filepath.Join(dir, databaseName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(whole)
	for _, needle := range []string{"call3", "run_command", "echo 你好", "qq:group:1", "local:ann"} {
		at := strings.LastIndex(text, needle)
		if at < 0 {
			t.Fatalf("%q is not in the file", needle)
		}
		broken := []byte(text)
		broken[at+2] ^= 1
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Verify(t.Context()); err == nil && r.Problem == nil {
			t.Errorf("flipped a byte of %q: not noticed", needle)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A database that is put back to an older state shows, and the next append puts the loss itself on record.
func TestOlderStateIsNoticed(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	path := filepath.Join(dir, databaseName)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	newest := add(t, s, full(6), full(7))[1]
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if r := mustVerify(t, s); r.Problem == nil || *r.Problem != (audit.Problem{Seq: 6, Fault: audit.Truncated}) {
		t.Errorf("Verify: %+v", r)
	}
	added := add(t, s, full(8))[0]
	if added.Seq != 7 {
		t.Errorf("the next record is %d, want 7: 6 tells of the loss", added.Seq)
	}
	loss, err := s.Get(t.Context(), 6)
	if err != nil || loss.Status != "records_lost" || loss.Detail != "known 7 "+newest.Hash {
		t.Errorf("record of the loss: %+v, %v", loss, err)
	}
	want := audit.Problem{Seq: 6, Fault: audit.Lost, Known: 7}
	if r := mustVerify(t, s); r.Problem == nil || *r.Problem != want {
		t.Errorf("Verify after the next append: %+v", r)
	}
}

// Whatever was done to the trail, one more command does not make it whole again.
func TestLossStaysAFault(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, dir string){
		"database removed": func(t *testing.T, dir string) {
			for _, end := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(filepath.Join(dir, databaseName+end)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		},
		"newest rows and head": func(t *testing.T, dir string) {
			raw(t, dir, "DELETE FROM audit WHERE seq>3", "UPDATE head SET seq=3, hash=(SELECT hash FROM audit WHERE seq=3)")
		},
		"another trail, longer": func(t *testing.T, dir string) {
			other := t.TempDir()
			s := open(t, other)
			add(t, s, full(11), full(12), full(13), full(14), full(15), full(16))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(other, databaseName), filepath.Join(dir, databaseName)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t)
			damage(t, dir)
			for range 2 {
				s := open(t, dir)
				if _, err := s.Begin(t.Context(), "exec"); err != nil {
					t.Fatal(err)
				}
				add(t, s, full(8))
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			r := mustVerify(t, open(t, dir))
			if r.Problem == nil || r.Problem.Fault != audit.Lost || r.Problem.Known != 5 || len(r.Lost) != 1 {
				t.Errorf("Verify: %+v", r)
			}
		})
	}
}

// A head table that is gone or empty is damage, in words that say what to do.
func TestLostHeadTableIsDamage(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{"DROP TABLE head", "DELETE FROM head", "DROP TABLE audit"} {
		dir := filled(t)
		raw(t, dir, statement)
		s, err := Open(t.Context(), Options{Dir: dir})
		if err == nil {
			_, err = s.Verify(t.Context())
			wantCode(t, err, "store.corrupt")
			_, err = s.Append(t.Context(), full(6))
			if closeErr := s.Close(); closeErr != nil {
				t.Error(closeErr)
			}
		}
		wantCode(t, err, "store.corrupt")
	}
}

func TestHeadFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(path string) error
		want string
		bad  bool
	}{
		{"removed", os.Remove, "missing", false},
		{"garbled", func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) }, "unreadable", false},
		{"behind", func(p string) error {
			return os.WriteFile(p, []byte(headLine(audit.Head{})), 0o600)
		}, "unreadable", false},
		{"another history", func(p string) error {
			return os.WriteFile(p, []byte(headLine(audit.Head{Seq: 3, Hash: strings.Repeat("0", 64)})), 0o600)
		}, "ok", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t)
			if err := c.edit(filepath.Join(dir, headName)); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir)
			if r := mustVerify(t, s); r.HeadFile != c.want || (r.Problem != nil) != c.bad {
				t.Errorf("Verify: %+v", r)
			}
			add(t, s, full(6))
			if r := mustVerify(t, s); r.HeadFile != "ok" || (r.Problem != nil) != c.bad {
				t.Errorf("Verify after the next append: %+v", r)
			}
		})
	}
}

// A database that cannot take the record fails the append, and goes on when it can again.
func TestAppendFailsClosed(t *testing.T) {
	t.Parallel()
	big := full(1)
	big.Detail = strings.Repeat("x", 1<<16)
	for code, pragma := range map[string][2]string{
		"store.full":     {"PRAGMA max_page_count=1", "PRAGMA max_page_count=1000000"},
		"store.readonly": {"PRAGMA query_only=1", "PRAGMA query_only=0"},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			add(t, s, full(1))
			if _, err := s.conn.ExecContext(t.Context(), pragma[0]); err != nil {
				t.Fatal(err)
			}
			_, err := s.Append(t.Context(), big)
			wantCode(t, err, code)
			if _, err := s.conn.ExecContext(t.Context(), pragma[1]); err != nil {
				t.Fatal(err)
			}
			add(t, s, big)
			if r := mustVerify(t, s); r.Problem != nil || r.Records != 2 {
				t.Errorf("Verify: %+v", r)
			}
		})
	}
}

// Rows beyond the head mean that someone moved the head: nothing is appended over them.
func TestAppendNeverOverwrites(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	raw(t, dir, "UPDATE head SET seq=4, hash=(SELECT hash FROM audit WHERE seq=4)")
	s := open(t, dir)
	_, err := s.Append(t.Context(), full(1))
	wantCode(t, err, "store.head_behind")
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	t.Run("no directory given", func(t *testing.T) {
		t.Parallel()
		_, err := Open(t.Context(), Options{})
		wantCode(t, err, "store.no_dir")
	})
	t.Run("a file in the way", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Options{Dir: path})
		wantCode(t, err, "store.dir_not_dir")
	})
	t.Run("not a database", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, databaseName), []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Options{Dir: dir})
		wantCode(t, err, "store.corrupt")
	})
	t.Run("a directory instead of the database", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, databaseName), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Options{Dir: dir})
		wantCode(t, err, "store.not_a_file")
	})
	t.Run("newer, and leaves it alone", func(t *testing.T) {
		t.Parallel()
		dir := filled(t)
		raw(t, dir, "PRAGMA user_version=99")
		before, err := os.ReadFile(filepath.Join(dir, databaseName))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), Options{Dir: dir})
		wantCode(t, err, "store.newer")
		after, err := os.ReadFile(filepath.Join(dir, databaseName))
		if err != nil || string(before) != string(after) {
			t.Errorf("the newer database was changed (%v)", err)
		}
	})
	t.Run("context is done", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Open(ctx, Options{Dir: t.TempDir()}); err == nil {
			t.Error("opened")
		}
	})
}

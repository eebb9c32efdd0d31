package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maishell/maishell/audit"
)

func full(i int) audit.Record {
	code := i
	return audit.Record{
		Time: time.Date(2026, 1, 2, 3, 4, i, 5678, time.UTC), Kind: audit.Outcome, Call: fmt.Sprint("call", i), Instance: "i",
		Caller: "local:ann", Group: "qq:group:1", Role: "admin", Session: "s", Parent: "p", Channel: "terminal",
		Tool: "run_command", Effects: []string{"execute", "a\"b"}, Command: "echo 你好\x00\n", Cwd: "/tmp",
		Args: json.RawMessage(`{"command": "echo <hi>"}`), Verdict: "allow", Rule: "r", Reason: "why", Status: "ok",
		ExitCode: &code, Detail: "d\xff",
	}
}

func TestRecordsComeBackWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b#%41&x")
	s := open(t, dir)
	want := add(t, s, full(0), audit.Record{Kind: audit.Event}, full(2))
	if want[0].Seq != 1 || want[1].Seq != 2 || want[1].Prev != want[0].Hash || want[1].Time.IsZero() {
		t.Errorf("Append returned %+v", want)
	}
	for _, w := range want {
		got, err := s.Get(t.Context(), w.Seq)
		if diff := cmp.Diff(w, got); err != nil || diff != "" {
			t.Errorf("Get(%d): %v\n%s", w.Seq, err, diff)
		}
	}
	if _, err := s.Get(t.Context(), 4); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get(4): %v, want ErrNotFound", err)
	}
	got, err := s.List(t.Context(), Filter{})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("List: %v\n%s", err, diff)
	}
	if r := mustVerify(t, s); r.Problem != nil || r.Records != 3 || r.HeadFile != "ok" {
		t.Errorf("Verify: %+v", r)
	}
}

func TestTrailGoesOnAfterReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		add(t, s, full(i))
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.Append(t.Context(), full(9))
		wantCode(t, err, "store.closed")
	}
	if r := mustVerify(t, open(t, dir)); r.Problem != nil || r.Records != 3 {
		t.Errorf("Verify: %+v", r)
	}
}

func TestExportVerifiesOnItsOwn(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	last := add(t, s, full(0), full(1), full(2))[2]
	var out bytes.Buffer
	if err := s.Export(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var v audit.Verifier
	v.Expect(audit.Head{Seq: last.Seq, Hash: last.Hash}, true)
	for line := range strings.Lines(out.String()) {
		var r audit.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		v.Add(r)
	}
	if r := v.Report(); r.Problem != nil || r.Records != 3 {
		t.Errorf("%+v", r)
	}
	broken := errors.New("pipe closed")
	if err := s.Export(t.Context(), failingWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("Export to a broken writer: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestList(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	add(t, s,
		audit.Record{Time: day(1), Kind: audit.Intent, Call: "c1", Caller: "local:ann", Session: "s1", Tool: "run_command", Verdict: "allow", Command: "df -h | grep 100%"},
		audit.Record{Time: day(2), Kind: audit.Outcome, Call: "c1", Caller: "local:ann", Session: "s1", Tool: "run_command", Detail: "half_done"},
		audit.Record{Time: day(3), Kind: audit.Refusal, Call: "c2", Caller: "qq:1", Session: "s2", Tool: "write_file", Verdict: "deny", Rule: "own_files"},
		audit.Record{Time: day(4), Kind: audit.Event, Reason: "磁盘 started", Args: json.RawMessage(`{"x":"Y"}`)},
	)
	for _, c := range []struct {
		name string
		f    Filter
		want []int64
	}{
		{"all", Filter{}, []int64{1, 2, 3, 4}},
		{"newest", Filter{Limit: 2}, []int64{3, 4}},
		{"no limit", Filter{Limit: -1}, []int64{1, 2, 3, 4}},
		{"after", Filter{AfterSeq: 1, Limit: 2}, []int64{2, 3}},
		{"call", Filter{Call: "c1"}, []int64{1, 2}},
		{"caller", Filter{Caller: "qq:1"}, []int64{3}},
		{"session and tool", Filter{Session: "s1", Tool: "run_command"}, []int64{1, 2}},
		{"contradiction", Filter{Session: "s1", Tool: "write_file"}, nil},
		{"verdict", Filter{Verdict: "deny"}, []int64{3}},
		{"kind", Filter{Kind: audit.Event}, []int64{4}},
		{"since", Filter{Since: day(3)}, []int64{3, 4}},
		{"until", Filter{Until: day(3)}, []int64{1, 2}},
		{"text in either case", Filter{Text: "GREP"}, []int64{1}},
		{"percent sign is a percent sign", Filter{Text: "100%"}, []int64{1}},
		{"and not a wildcard", Filter{Text: "d%f"}, nil},
		{"nor is an underscore", Filter{Text: "half_"}, []int64{2}},
		{"underscore does not match", Filter{Text: "hal_"}, nil},
		{"quote", Filter{Text: `x' OR '1'='1`}, nil},
		{"chinese", Filter{Text: "磁盘"}, []int64{4}},
		{"arguments", Filter{Text: `"y"`}, []int64{4}},
		{"rule", Filter{Text: "own_"}, []int64{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			records, err := s.List(t.Context(), c.f)
			var got []int64
			for _, r := range records {
				got = append(got, r.Seq)
			}
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestConcurrentAppends(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 10 {
				if _, err := s.Append(t.Context(), full(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if r := mustVerify(t, s); r.Problem != nil || r.Records != 320 {
		t.Errorf("Verify: %+v", r)
	}
}

// While someone else holds the write lock, a caller waits no longer than its context.
func TestContextEndsTheWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	err := other.tx.run(t.Context(), func(context.Context) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := s.Append(ctx, full(1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Append: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, full(1))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Append(canceled, full(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with a context that is done: %v", err)
	}
	if r := mustVerify(t, s); r.Problem != nil || r.Records != 1 {
		t.Errorf("Verify: %+v", r)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error is %v, want %s", err, code)
	}
}

func BenchmarkAppend(b *testing.B) {
	s, err := Open(b.Context(), Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	r := full(0)
	r.Time = time.Time{}
	for b.Loop() {
		if _, err := s.Append(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenBeginClose(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s, err := Open(b.Context(), Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Begin(b.Context(), "exec"); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

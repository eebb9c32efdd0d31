package store

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maishell/maishell/agent"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	step := func(i int) agent.Step {
		return agent.Step{Role: "user", JSON: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)), Time: at.Add(time.Duration(i) * time.Second)}
	}
	if got, err := s.LoadHistory(t.Context(), "a"); err != nil || got != nil {
		t.Errorf("an unknown session: %v %v", got, err)
	}
	for _, batch := range [][]agent.Step{{step(1), step(2)}, {step(3)}, {step(4)}} {
		if err := s.AppendHistory(t.Context(), "a", batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AppendHistory(t.Context(), "b", []agent.Step{{Role: "tool", JSON: json.RawMessage(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s, dir)
	want := []agent.Step{step(1), step(2), step(3), step(4)}
	for _, keep := range []int{9, 4, 2, 1, 0} {
		if err := s.TrimHistory(t.Context(), "a", keep); err != nil {
			t.Fatal(err)
		}
		want = want[max(0, len(want)-keep):]
		got, err := s.LoadHistory(t.Context(), "a")
		if d := cmp.Diff(len(want), len(got)); err != nil || d != "" {
			t.Fatalf("keep %d: %v %s", keep, err, d)
		}
		if d := cmp.Diff(want, got); len(want) > 0 && d != "" {
			t.Errorf("keep %d: %s", keep, d)
		}
	}
	if got, err := s.LoadHistory(t.Context(), "b"); err != nil || len(got) != 1 || got[0].Time.IsZero() {
		t.Errorf("the other session: %+v %v", got, err)
	}
	if r := mustVerify(t, s); r.Problem != nil {
		t.Errorf("the trail was touched: %+v", r)
	}
}

func TestSpend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if total, err := s.Spend(t.Context(), "2026-01-02", 0); total != 0 || err != nil {
		t.Errorf("a new day: %d %v", total, err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := s.Spend(t.Context(), "2026-01-02", 5); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s = reopen(t, s, dir)
	if total, err := s.Spend(t.Context(), "2026-01-02", 0); total != 100 || err != nil {
		t.Errorf("%d %v, want 100", total, err)
	}
	if total, err := s.Spend(t.Context(), "2026-01-03", 7); total != 7 || err != nil {
		t.Errorf("the next day: %d %v", total, err)
	}
}

func reopen(t *testing.T, s *Store, dir string) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

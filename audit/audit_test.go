package audit

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawRecord(t *rapid.T) Record {
	text := rapid.OneOf(rapid.StringN(0, 12, 40), rapid.SampledFrom([]string{"", "a", "1:a", "\n", "\x00", "\xff\xfe", "<&>"}))
	r := Record{
		Time:     time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "time")),
		Kind:     rapid.SampledFrom([]Kind{Intent, Outcome, Refusal, Event}).Draw(t, "kind"),
		Call:     text.Draw(t, "call"),
		Caller:   text.Draw(t, "caller"),
		Session:  text.Draw(t, "session"),
		Tool:     text.Draw(t, "tool"),
		Effects:  rapid.SliceOfN(text, 0, 3).Draw(t, "effects"),
		Command:  text.Draw(t, "command"),
		Cwd:      text.Draw(t, "cwd"),
		Args:     json.RawMessage(rapid.SampledFrom([]string{"", `{"a": 1}`, `{"a":"<\u0041>"}`, "not json", "null"}).Draw(t, "args")),
		Reason:   text.Draw(t, "reason"),
		Status:   text.Draw(t, "status"),
		Detail:   text.Draw(t, "detail"),
		Instance: text.Draw(t, "instance"),
	}
	if rapid.Bool().Draw(t, "has exit code") {
		code := rapid.IntRange(0, 255).Draw(t, "exit code")
		r.ExitCode = &code
	}
	return r
}

func drawChain(t *rapid.T, minLen int) []Record {
	n := rapid.IntRange(minLen, 6).Draw(t, "length")
	chain := make([]Record, n)
	prev := ""
	for i := range chain {
		r := drawRecord(t)
		r.Seq = int64(i + 1)
		chain[i] = Seal(prev, r)
		prev = chain[i].Hash
	}
	return chain
}

func verify(chain []Record, heads ...Head) Report {
	var v Verifier
	for _, h := range heads {
		v.Expect(h, true)
	}
	for _, r := range chain {
		v.Add(r)
	}
	return v.Report()
}

func end(chain []Record) Head {
	if len(chain) == 0 {
		return Head{}
	}
	last := chain[len(chain)-1]
	return Head{Seq: last.Seq, Hash: last.Hash}
}

func TestWholeChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 0)
		got := verify(chain, end(chain))
		want := Report{Records: int64(len(chain)), Head: end(chain)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A record that goes through JSON, as an export does, keeps its hash.
func TestSealedSurvivesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 1)
		for i, r := range chain {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var back Record
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			chain[i] = back
		}
		if got := verify(chain, end(chain)); got.Problem != nil {
			t.Fatalf("after JSON: %v", got.Problem)
		}
	})
}

// Every field of Record, those of later versions included, must take part in the hash.
func TestAnyChangedFieldShows(t *testing.T) {
	t.Parallel()
	fields := reflect.VisibleFields(reflect.TypeFor[Record]())
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 1)
		head := end(chain)
		at := rapid.IntRange(0, len(chain)-1).Draw(t, "at")
		field := rapid.SampledFrom(fields).Draw(t, "field")
		change(t, reflect.ValueOf(&chain[at]).Elem().FieldByIndex(field.Index))
		if got := verify(chain, head); got.Problem == nil {
			t.Fatalf("changed %s of record %d: not noticed", field.Name, at+1)
		}
	})
}

func change(t *rapid.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *int64:
		*x += rapid.SampledFrom([]int64{-1, 1, 1 << 40}).Draw(t, "delta")
	case *time.Time:
		*x = x.Add(time.Duration(rapid.SampledFrom([]int64{-1000, 1000, 1e15}).Draw(t, "delta")))
	case **int:
		if *x == nil {
			*x = new(int)
		} else if n := **x + 1; rapid.Bool().Draw(t, "drop") {
			*x = nil
		} else {
			*x = &n
		}
	case *[]string:
		if len(*x) == 0 {
			*x = []string{""}
			return
		}
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			*x = (*x)[1:]
		case 1:
			*x = append([]string{(*x)[0] + "x"}, (*x)[1:]...)
		case 2:
			*x = append(slices.Clone(*x), "x")
		}
	case *json.RawMessage:
		*x = flip(t, *x)
	case *Kind:
		*x = Kind(flip(t, []byte(*x)))
	case *string:
		*x = string(flip(t, []byte(*x)))
	default:
		t.Fatalf("do not know how to change a %s", v.Type())
	}
}

// flip changes one bit of b, or gives it a byte when it has none.
func flip(t *rapid.T, b []byte) []byte {
	if len(b) == 0 {
		return []byte{'x'}
	}
	b = slices.Clone(b)
	b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	return b
}

func TestAnyRemovedRecordShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 1)
		at := rapid.IntRange(0, len(chain)-1).Draw(t, "at")
		got := verify(slices.Delete(slices.Clone(chain), at, at+1), end(chain))
		if got.Problem == nil {
			t.Fatalf("removed record %d of %d: not noticed", at+1, len(chain))
		}
		want := &Problem{Seq: int64(at + 1), Fault: Missing}
		switch {
		case at == len(chain)-1:
			want.Fault = Truncated
		case at == 0:
			want = &Problem{Seq: 2, Fault: Unanchored}
		}
		if diff := cmp.Diff(want, got.Problem); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAnySwappedPairShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 2)
		head := end(chain)
		i := rapid.IntRange(0, len(chain)-2).Draw(t, "i")
		j := rapid.IntRange(i+1, len(chain)-1).Draw(t, "j")
		swapped := slices.Clone(chain)
		swapped[i], swapped[j] = swapped[j], swapped[i]
		got := verify(swapped, head)
		if got.Problem == nil || (i > 0 && got.Problem.Fault != Reordered) {
			t.Fatalf("swapped %d and %d: %v", i+1, j+1, got.Problem)
		}
		// The same swap by someone who also swaps the numbers.
		swapped[i].Seq, swapped[j].Seq = swapped[j].Seq, swapped[i].Seq
		if got := verify(swapped, head); got.Problem == nil {
			t.Fatalf("swapped %d and %d under each other's number: not noticed", i+1, j+1)
		}
	})
}

// Someone who rewrites a record together with its hash is caught by the next record, and at the end by the head.
func TestRewrittenRecordShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 1)
		head := end(chain)
		at := rapid.IntRange(0, len(chain)-1).Draw(t, "at")
		r := chain[at]
		r.Command += "!"
		chain[at] = Seal(r.Prev, r)
		want := &Problem{Seq: int64(at + 2), Fault: Unlinked}
		if at == len(chain)-1 {
			want = &Problem{Seq: int64(at + 1), Fault: Headless}
		}
		if diff := cmp.Diff(want, verify(chain, head).Problem); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A head that lags behind is fine unless it must be exact; one that is ahead never is.
func TestHeads(t *testing.T) {
	t.Parallel()
	first := Seal("", Record{Seq: 1, Kind: Event})
	second := Seal(first.Hash, Record{Seq: 2, Kind: Event})
	for _, c := range []struct {
		name  string
		head  Head
		exact bool
		want  *Problem
	}{
		{"no head yet", Head{}, false, nil},
		{"behind", Head{1, first.Hash}, false, nil},
		{"level", Head{2, second.Hash}, false, nil},
		{"ahead", Head{3, second.Hash}, false, &Problem{Seq: 3, Fault: Truncated}},
		{"another history", Head{1, second.Hash}, false, &Problem{Seq: 1, Fault: Headless}},
		{"exact and empty", Head{}, true, &Problem{Seq: 0, Fault: Headless}},
		{"exact and behind", Head{1, first.Hash}, true, &Problem{Seq: 1, Fault: Headless}},
		{"exact and level", Head{2, second.Hash}, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var v Verifier
			v.Expect(c.head, c.exact)
			v.Add(first)
			v.Add(second)
			if diff := cmp.Diff(c.want, v.Report().Problem); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The encoding is a promise to everyone who kept a hash: it must never change.
func TestHashIsStable(t *testing.T) {
	t.Parallel()
	code := 0
	first := Seal("", Record{
		Seq: 1, Time: time.Date(2026, 3, 4, 5, 6, 7, 8999, time.UTC), Kind: Intent, Call: "c", Instance: "i",
		Caller: "local:ann", Group: "g", Role: "admin", Session: "s", Parent: "p", Channel: "terminal", Tool: "run_command",
		Effects: []string{"execute", "write"}, Command: "echo hi", Cwd: "/", Args: json.RawMessage(`{"command": "echo hi"}`),
		Verdict: "allow", Rule: "r", Reason: "why", Status: "ok", ExitCode: &code, Detail: "d",
	})
	const wantText = "maishell audit 1\nseq 1:1\ntime 16:1772600767000008\nkind 6:intent\ncall 1:c\ninstance 1:i\n" +
		"caller 9:local:ann\ngroup 1:g\nrole 5:admin\nsession 1:s\nparent 1:p\nchannel 8:terminal\ntool 11:run_command\n" +
		"effects 16:7:execute5:write\ncommand 7:echo hi\ncwd 1:/\nargs 21:{\"command\":\"echo hi\"}\nverdict 5:allow\n" +
		"rule 1:r\nreason 3:why\nstatus 2:ok\nexit_code 1:0\ndetail 1:d\n"
	if diff := cmp.Diff(wantText, string(canonical(&first))); diff != "" {
		t.Error(diff)
	}
	const want = "cb0c5199def5c0b16ec04e7ab7f4dd859ab6256708fa0b7149ce117cf3a04c4f"
	if first.Hash != want {
		t.Errorf("hash = %s, want %s", first.Hash, want)
	}
}

// A loss that is on record stays a fault, however long the chain goes on; a broken chain is named before it.
func TestRecordedLossIsAFault(t *testing.T) {
	t.Parallel()
	loss := Loss(Head{Seq: 7, Hash: "h"})
	loss.Seq = 1
	first := Seal("", loss)
	second := Seal(first.Hash, Record{Seq: 2, Kind: Outcome, Status: StatusRecordsLost})
	want := &Problem{Seq: 1, Fault: Lost, Known: 7}
	got := verify([]Record{first, second}, end([]Record{first, second}))
	if diff := cmp.Diff(Report{Records: 2, Head: end([]Record{first, second}), Problem: want, Lost: []*Problem{want}}, got); diff != "" {
		t.Error(diff)
	}
	if got.Err() == nil || (Report{}).Err() != nil {
		t.Errorf("Err: %v", got.Err())
	}
	second.Tool = "x"
	got = verify([]Record{first, second})
	if diff := cmp.Diff(&Problem{Seq: 2, Fault: Edited}, got.Problem); diff != "" || len(got.Lost) != 1 {
		t.Error(diff, got.Lost)
	}
}

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/session"
)

// benchModel answers a question with a call of run_command, and the result with a text, as a stream.
func benchModel(b *testing.B) *httptest.Server {
	b.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Messages) == 0 {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		delta := `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"run_command","arguments":"{\"command\":\"uname -r\"}"}}]}`
		if in.Messages[len(in.Messages)-1].Role == "tool" {
			delta = `{"content":"done"}`
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\ndata: [DONE]\n\n", delta)
	}))
	b.Cleanup(srv.Close)
	return srv
}

// benchSink counts what it is told.
type benchSink struct{ replies atomic.Int64 }

func (s *benchSink) Reply(_ context.Context, text string) error {
	if text != "done" {
		return fmt.Errorf("reply %q", text)
	}
	s.replies.Add(1)
	return nil
}

func (*benchSink) Notice(context.Context, string) error { return nil }

// benchChat is a runtime with a model, and its handler of texts.
func benchChat(b *testing.B) (channels.Handler, session.Origin, *httptest.Server, *liveModel) {
	b.Helper()
	srv := benchModel(b)
	rt, origin := benchRuntime(b, "MAISHELL_LLM__BASE_URL="+srv.URL+"/v1", "MAISHELL_LLM__MODEL=bench")
	h, err := rt.agent(false)
	if err != nil {
		b.Fatal(err)
	}
	return h, origin, srv, rt.model
}

// bare makes the two exchanges of a turn and nothing else.
func bare(b *testing.B, client *http.Client, url string, bodies [2][]byte) time.Duration {
	b.Helper()
	start := time.Now()
	for _, body := range bodies {
		res, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res.Status, err)
		}
	}
	return time.Since(start)
}

// BenchmarkTurn is a whole turn (question, one command, answer) in turns with the two exchanges that a bare client makes of
// it: what maishell adds to the time of the model, its command included.
//
//	go test ./app -run '^$' -bench Turn -benchtime 500x
func BenchmarkTurn(b *testing.B) {
	h, origin, srv, _ := benchChat(b)
	sink := &benchSink{}
	// As long as what the agent sends.
	text := strings.Repeat("x", 8<<10)
	bodies := [2][]byte{
		[]byte(`{"messages":[{"role":"user","content":"` + text + `"}]}`), []byte(`{"messages":[{"role":"tool","content":"` + text + `"}]}`),
	}
	var ours, theirs []time.Duration
	for n := range b.N {
		theirs = append(theirs, bare(b, srv.Client(), srv.URL, bodies))
		origin.Session = "bench" + strconv.Itoa(n)
		start := time.Now()
		if err := h.Handle(b.Context(), channels.Message{Origin: origin, Text: "which kernel?"}, sink); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
	}
	b.ReportMetric(float64(median(ours)-median(theirs))/1e6, "added-ms")
	b.ReportMetric(float64(median(theirs))/1e6, "model-ms")
}

// BenchmarkConversations has 200 conversations at once, each one turn: how long until all are answered, how much memory that
// takes, and what is left behind.
//
//	go test ./app -run '^$' -bench Conversations -benchtime 5x
func BenchmarkConversations(b *testing.B) {
	const many = 200
	h, origin, srv, model := benchChat(b)
	sink := &benchSink{}
	before := goruntime.NumGoroutine()
	peak := 0
	for n := range b.N {
		var all sync.WaitGroup
		for i := range many {
			o := origin
			o.Session = fmt.Sprintf("%d-%d", n, i)
			all.Go(func() {
				if err := h.Handle(b.Context(), channels.Message{Origin: o, Text: "which kernel?"}, sink); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		peak = max(peak, residentPeak(b))
	}
	b.StopTimer()
	if got := sink.replies.Load(); got != int64(many*b.N) {
		b.Fatalf("%d replies", got)
	}
	b.ReportMetric(float64(many)*float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	b.ReportMetric(float64(peak)/1024, "peak-rss-MiB")
	model.close()
	srv.CloseClientConnections()
	b.ReportMetric(float64(settled(before)-before), "goroutines-left")
}

// settled is the number of goroutines once those that are ending have ended.
func settled(want int) int {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Second); goruntime.NumGoroutine() > want && time.Now().Before(deadline); <-tick.C {
	}
	return goruntime.NumGoroutine()
}

// residentPeak is the largest resident memory of this process so far, in KiB.
func residentPeak(b *testing.B) int {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return kb
		}
	}
	b.Fatal("no VmHWM")
	return 0
}

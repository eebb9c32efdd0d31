package executor

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/maishell/maishell/executor/floor"
)

// The figures that count are ratios to floor/testdata/spawn_floor.c, taken in turns on the same machine:
//
//	go test ./executor -run '^$' -bench Spawn -benchtime 4000x
//	go test ./executor -run '^$' -bench 'Callers|Drain' -benchtime 5x

func cpuTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano()
}

func quantile(v []int64, q float64) int64 {
	v = slices.Sorted(slices.Values(v))
	return v[int(q*float64(len(v)-1))]
}

func benchRequest(b *testing.B) Request {
	return Request{RunID: "bench", Command: "true", Dir: b.TempDir(), Timeout: time.Minute}
}

// BenchmarkSpawn runs a command in turns: once by the floor, once by us. The shell does the first command itself; the
// second is a program, which the floor's shell starts and which we start without one.
func BenchmarkSpawn(b *testing.B) {
	for name, command := range map[string]string{"builtin": "true", "program": "uname -r"} {
		for _, method := range killMethods() {
			b.Run(name+"/"+method, func(b *testing.B) { benchSpawn(b, method, command) })
		}
	}
}

func benchSpawn(b *testing.B, method, command string) {
	e := newExecutor(b, method, Options{})
	f := floor.Start(b, baseEnv(os.Environ()))
	req := benchRequest(b)
	req.Command = command
	var theirs, ours []int64
	var theirCPU, ourCPU int64
	for range b.N {
		f.Order("s " + command)
		a := f.Answer()
		theirs, theirCPU = append(theirs, a[0]), theirCPU+a[1]
		cpu, start := cpuTime(), time.Now()
		r := e.Run(b.Context(), req)
		ours, ourCPU = append(ours, time.Since(start).Nanoseconds()), ourCPU+cpuTime()-cpu
		if r.Status != OK {
			b.Fatal(r.Status, r.Err)
		}
	}
	b.ReportMetric(float64(quantile(ours, .5))/float64(quantile(theirs, .5)), "x-median")
	b.ReportMetric(float64(ourCPU)/float64(theirCPU), "x-cpu")
	b.ReportMetric(float64(quantile(theirs, .5)), "floor-ns")
	b.ReportMetric(float64(theirCPU)/float64(b.N), "floor-cpu-ns")
}

// BenchmarkCallers has 64 callers at once run `true`, in turns with 64 threads of the floor.
func BenchmarkCallers(b *testing.B) {
	const callers, all = 64, 1500
	for _, method := range killMethods() {
		for _, limit := range []int{0, callers} {
			b.Run(fmt.Sprintf("%s/max=%d", method, limit), func(b *testing.B) {
				e := newExecutor(b, method, Options{MaxRunning: limit})
				f := floor.Start(b, baseEnv(os.Environ()))
				var theirs, ours []int64
				var theirTime, ourTime int64
				for range b.N {
					f.Order(fmt.Sprintf("p %d %d", callers, all))
					theirTime += f.Answer()[0]
					for range all {
						theirs = append(theirs, f.Answer()[0])
					}
					start := time.Now()
					ours = append(ours, parallelRuns(b, e, callers, all)...)
					ourTime += time.Since(start).Nanoseconds()
				}
				b.ReportMetric(float64(theirTime)/float64(ourTime), "x-throughput")
				b.ReportMetric(float64(quantile(ours, .99))/float64(quantile(theirs, .99)), "x-p99")
				b.ReportMetric(float64(quantile(theirs, .99)), "floor-p99-ns")
			})
		}
	}
}

func parallelRuns(b *testing.B, e *Executor, callers, all int) []int64 {
	req := benchRequest(b)
	took := make([]int64, all)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(all); i = next.Add(1) - 1 {
				start := time.Now()
				if r := e.Run(b.Context(), req); r.Status != OK {
					b.Error(r.Status, r.Err)
				}
				took[i] = time.Since(start).Nanoseconds()
			}
		})
	}
	wg.Wait()
	return took
}

// BenchmarkDrain reads a gigabyte, in turns with a loop that only reads.
func BenchmarkDrain(b *testing.B) {
	const command = "head -c 1073741824 /dev/zero"
	e := newExecutor(b, killMethods()[0], Options{})
	f := floor.Start(b, baseEnv(os.Environ()))
	req := benchRequest(b)
	req.Command = command
	var theirs, ours []int64
	before, peak := rss(b), int64(0)
	for range b.N {
		f.Order("d " + command)
		a := f.Answer()
		theirs = append(theirs, a[0])
		start := time.Now()
		r := e.Run(b.Context(), req)
		ours = append(ours, time.Since(start).Nanoseconds())
		if r.Stdout.TotalBytes != a[1] {
			b.Fatal(r.Stdout.TotalBytes, a[1], r.Err)
		}
		peak = max(peak, rss(b)-before)
	}
	b.ReportMetric(float64(quantile(theirs, .5))/float64(quantile(ours, .5)), "x-speed")
	b.ReportMetric(float64(quantile(theirs, .5)), "floor-ns")
	b.ReportMetric(float64(peak), "rss-growth-B")
}

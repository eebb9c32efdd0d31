package scripts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/scripts/sandbox"
)

// hostile are bodies of hooks that would go on for ever, or take all memory. Each has to be stopped.
var hostile = map[string]string{
	"loop":              `while true do end`,
	"repeat":            `repeat until false`,
	"for":               `for i = 1, 1e18 do end`,
	"goto":              "::a:: goto a",
	"recursion":         `local function f() return f() end f()`,
	"deep recursion":    `local function f() f() f() end while true do pcall(f) end`,
	"pcall loop":        `while true do pcall(function() while true do end end) end`,
	"pcall recursion":   `local function f() while true do pcall(f) end end f()`,
	"error loop":        `while true do pcall(error, "x") end`,
	"concat":            `local s = "x" while true do s = s .. s end`,
	"concat pieces":     `local t = {} while true do t[#t+1] = ("x"):rep(1000) .. #t end`,
	"rep":               `return ("x"):rep(1e12)`,
	"rep twice":         `local s = ("x"):rep(1e6) while true do s = s:rep(2) end`,
	"rep sep":           `return ("x"):rep(1e9, "yyyy")`,
	"table":             `local t = {} while true do t[#t+1] = 1 end`,
	"table sparse":      `local t = {} t[6e7] = 1 while true do end`,
	"table constructor": `while true do local t = {[6e7] = 1} end`,
	"tables in tables":  `local t = {} while true do t = {t, x = t} end`,
	"named fields":      `local t = {} local i = 0 while true do i = i + 1 t["k" .. i] = i end`,
	"set and clear":     `local t = {} local i = 0 while true do i = i + 1 t["k" .. i] = i t["k" .. i] = nil end`,
	"small fields":      `local p while true do local t = {} t.a = p t.b = p p = t end`,
	"closures":          `local f while true do local g = f f = function() return g end end`,
	"insert":            `local t = {} while true do table.insert(t, 1, "x") end`,
	"table.concat":      `local t = {} for i = 1, 200 do t[i] = ("x"):rep(5000) end while true do t[1] = table.concat(t) end`,
	"sort":              `local t = {} for i = 1, 50000 do t[i] = -i end while true do table.sort(t, function(a, b) return a < b end) end`,
	"sort nonsense":     `local t = {} for i = 1, 5000 do t[i] = i end while true do table.sort(t, function() return true end) end`,
	"pattern":           `local s = ("a"):rep(5000) while true do s:find((".-"):rep(12) .. "b") end`,
	"pattern star":      `return ("a"):rep(200000):match("(a*)*b") or ("a"):rep(20000):find(("a*"):rep(20) .. "b")`,
	"pattern balance":   `local s = ("("):rep(50000) while true do s:find("%b()") end`,
	"gsub":              `local s = ("a"):rep(1000) while true do s = s:gsub("a", "%0%0") end`,
	"gsub function":     `("a"):rep(1e5):gsub("a", function() while true do end end)`,
	"gmatch":            `while true do for w in ("a "):rep(1000):gmatch("%a*%a*%a*b") do end end`,
	"format":            `local s = "x" while true do s = string.format("%s%s", s, s) end`,
	"format width":      `local t = {} while true do t[#t+1] = ("%99d"):format(1) end`,
	"upper":             `local s = ("x"):rep(1e6) while true do s:upper() end`,
	"reverse":           `local s = ("x"):rep(5e5) local t = {} while true do t[#t+1] = s:reverse() end`,
	"regexp":            `local s = ("a"):rep(1e6) while true do mai.re.test(s, "(a?){200}(a?){200}b") end`,
	"regexp all":        `local s = ("a"):rep(1e5) while true do mai.re.find_all(s, "a.*b|a") end`,
	"regexp replace":    `local s = "a" while true do s = mai.re.replace(s, "a", "aa") end`,
	"json decode":       `local s = "[" .. ("1,"):rep(1e5) .. "1]" while true do mai.json.decode(s) end`,
	"json encode":       `local t = {} t[1] = t mai.json.encode(t) while true do end`,
	"json bomb":         `local t = {("x"):rep(10000)} for i = 1, 40 do t = {t, t} end mai.json.encode(t)`,
	"index chain":       `local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. "x"] end while true do pcall(function() return t.x end) end`,
	"newindex":          `local t = setmetatable({}, {__newindex = function(t, k, v) t[k] = v end}) while true do pcall(function() t.x = 1 end) end`,
	"metamethods":       `local t = setmetatable({}, {__add = function(a, b) return a + b end}) while true do pcall(function() return t + t end) end`,
	"tostring":          `local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) while true do pcall(tostring, t) end`,
	"unpack":            `while true do pcall(unpack, {}, 1, 1e9) end`,
	"varargs":           `local function f(...) return f(1, ...) end while true do pcall(f) end`,
	"select":            `while true do select("#", unpack({}, 1, 199)) end`,
	"kv":                `local i = 0 while true do i = i + 1 mai.kv.set("k" .. i, ("x"):rep(4000)) end`,
	"log":               `while true do mai.log(("x"):rep(1e5)) end`,
	"utf8":              `local s = ("é"):rep(1e5) while true do utf8.len(s) end`,
	"utf8 codes":        `while true do for _, c in utf8.codes(("é"):rep(1e4)) do end end`,
	"commands":          `while true do local c = call.commands[1].args end`,
	"runs":              `while true do call:runs("x", "y") end`,
	"args":              `while true do local a = call.args end`,
	"rewrites":          `while true do mai.rewrite{command = "x"} end`,
}

// TestHostileScripts holds that a script is stopped soon after its deadline, whatever it does. 10 ms is aimed at; the
// bound here is looser, for machines that do something else beside.
func TestHostileScripts(t *testing.T) {
	if len(hostile) < 30 {
		t.Fatalf("only %d scripts", len(hostile))
	}
	const limit, aimed = 50 * time.Millisecond, 10 * time.Millisecond
	worst, worstName := time.Duration(0), ""
	for name, body := range hostile {
		s := mustLoad(t, hook(body), func(o *Options) { o.Timeout = limit })
		var d guard.Decision
		took := time.Hour
		for range 8 { // a neighbour's load is not ours: the best of some tries counts
			start := time.Now()
			d = decide(t, s, action("k=kubectl; $k apply"))
			if took = min(took, time.Since(start)); took < limit+aimed {
				break
			}
		}
		if d.Verdict != guard.Deny || d.Reason != "lua.failed" || !strings.Contains(fmt.Sprint(d.Args...), "g.lua:") {
			t.Errorf("%s: not stopped: %+v", name, d)
		}
		if took-limit > worst {
			worst, worstName = took-limit, name
		}
		if took > limit+5*aimed {
			t.Errorf("%s: took %v", name, took)
		}
	}
	t.Logf("the slowest to stop was %q, %v after the deadline", worstName, worst)
}

// TestHostileMemory runs many of them at once and looks at the memory of the process.
func TestHostileMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	files := map[string]*Set{}
	for name, body := range hostile {
		files[name] = mustLoad(t, hook(body), func(o *Options) { o.Timeout = 50 * time.Millisecond })
	}
	debug.FreeOSMemory()
	before := rss(t)
	most := before
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				most = max(most, rss(t))
			}
		}
	})
	// One set, as in the program: its turns bound what runs at once. The hooks differ by the tool that they are for.
	var all strings.Builder
	all.WriteString("local mai = require \"maishell\"\nmai.pre_exec(\"g\", function(call)\nlocal which = call.id\n")
	for name, body := range hostile {
		if strings.Contains(body, "::a::") {
			continue // a label would be there twice
		}
		fmt.Fprintf(&all, "if which == %q then do %s end end\n", name, body)
	}
	all.WriteString("end)\n")
	text := strings.ReplaceAll(all.String(), "return (", "local _ = (")
	s := mustLoad(t, map[string]string{"g": text}, func(o *Options) { o.Timeout = 50 * time.Millisecond })
	var wg sync.WaitGroup
	for name := range hostile {
		wg.Go(func() {
			ctx := guard.WithAsker(context.Background(), guard.Asker{Call: name})
			if d, _ := s.Decide(ctx, action("a")); d.Verdict != guard.Deny && name != "goto" {
				t.Errorf("%s: %+v", name, d)
			}
		})
	}
	wg.Wait()
	close(done)
	watch.Wait()
	if grown := most - before; grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	} else {
		t.Logf("memory grew by %d MiB", grown>>20)
	}
}

func rss(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestNothingIsCarriedOver tries every place in which a script could leave something for the next call.
func TestNothingIsCarriedOver(t *testing.T) {
	t.Parallel()
	s := mustLoad(t, map[string]string{
		"lib/shared": `local n = 0 return { count = function() n = n + 1 return n end, table = {} }`,
		"a": `local mai, shared = require "maishell", require "lib.shared"
local file_local = 0
counter = counter or 0
mai.pre_exec("a", function(call)
  file_local = file_local + 1
  counter = counter + 1
  shared.table.x = (shared.table.x or 0) + 1
  local tries = {
    function() string.leak = 1 end, function() table.leak = 1 end, function() math.leak = 1 end, function() utf8.leak = 1 end,
    function() mai.leak = 1 end, function() mai.time.leak = 1 end, function() rawset(string, "leak", 1) end,
    function() rawset(mai, "leak", 1) end, function() getmetatable("").__index = nil end,
    function() getmetatable("").leak = 1 end, function() setmetatable(string, {}) end, function() setmetatable(mai, nil) end,
    function() getmetatable(mai).__index = nil end, function() getmetatable(call).__index = nil end,
    function() table.insert(string, 1) end, function() table.sort(mai) end, function() table.remove(mai, 1) end,
    function() call.leak = 1 end, function() setmetatable(call, {}) end, function() rawset(call, "leak", 1) end,
    function() ("").leak = 1 end, function() _G.leak = 1 end, function() getfenv(1).leak = 1 end,
    function() setfenv(1, {}) end, function() debug.getinfo(1) end, function() loadstring("x = 1")() end,
    function() load("x = 1")() end, function() dofile("/etc/passwd") end, function() os.exit() end, function() io.open("x") end,
    function() newproxy() end, function() collectgarbage() end, function() coroutine.create(print) end,
    function() package.loaded.x = 1 end, function() module("x") end, function() print("x") end,
    function() math.random() end, function() string.dump(print) end, function() _printregs() end, function() xpcall(error, error) end,
    function() channel.make() end,
  }
  for i, try in ipairs(tries) do
    if pcall(try) then error("try " .. i .. " worked") end
  end
  local seen = file_local .. counter .. shared.count() .. shared.table.x
  if seen ~= "1111" then error("carried over: " .. seen) end
  if string.leak or table.leak or mai.leak or ("").leak or leak then error("a table was changed") end
  leak = 1
end)`,
		"b": `local mai = require "maishell"
mai.pre_exec("b", function(call)
  if counter or leak then error("another script's globals") end
end)`,
	})
	for range 50 {
		if d := decide(t, s, action("ls")); d.Verdict != guard.Allow {
			t.Fatal(d.Args...)
		}
	}
}

func TestCancelledCall(t *testing.T) {
	t.Parallel()
	s := mustLoad(t, hook(`while true do end`), func(o *Options) { o.Timeout = time.Minute })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := s.After(ctx, action("x"), guard.Shown{})
	if err != nil {
		t.Fatal("there is no post hook")
	}
	d, _ := s.Decide(ctx, action("x"))
	if d.Verdict != guard.Deny {
		t.Errorf("%+v", d)
	}
	s = mustLoad(t, map[string]string{"g": `require("maishell").post_exec("p", function() while true do end end)`}, func(o *Options) { o.Timeout = 20 * time.Millisecond })
	_, err = s.After(t.Context(), action("x"), guard.Shown{Stdout: "x"})
	var he *HookError
	if !errors.As(err, &he) || !errors.Is(err, sandbox.ErrTime) || he.HookRule() != "script:p" {
		t.Error(err)
	}
}

func BenchmarkPreAndPost(b *testing.B) {
	s := mustLoad(b, map[string]string{"g": `local mai = require "maishell"
mai.pre_exec("no-deploys", function(call)
  if call.caller.role ~= "admin" and call.command:find("deploy", 1, true) then return mai.deny("no") end
end)
mai.post_exec("oom", function(call, result)
  if result.exit_code == 137 then result.note = "killed: out of memory?" end
  return result
end)`})
	a, code := action("ls -l"), 0
	shown := guard.Shown{Stdout: "x", Status: guard.StatusOK, ExitCode: &code}
	ctx := guard.WithAsker(context.Background(), guard.Asker{Role: "admin"})
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if d, _ := s.Decide(ctx, a); d.Verdict != guard.Allow {
			b.Fatal(d)
		}
		if _, err := s.After(ctx, a, shown); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}

// BenchmarkState is what a machine costs: made, and then kept in the pool.
func BenchmarkState(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	machines := make([]*machine, 0, b.N)
	for range b.N {
		machines = append(machines, newMachine())
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "retained-B")
	runtime.KeepAlive(machines)
}

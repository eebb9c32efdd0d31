package sandbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eval runs a script that returns one value.
func eval(t testing.TB, source string) (lua.LValue, error) {
	t.Helper()
	proto, err := Compile("t.lua", source)
	if err != nil {
		return nil, err
	}
	s := New(nil)
	s.Begin(context.Background(), 10*time.Second, 32<<20)
	return s.Call(s.Chunk(proto))
}

// TestLanguage holds that the priced language is Lua: each expression is true.
func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, e := range []string{
		`"a" .. 1 .. "b" == "a1b"`, `("x"):rep(3, ",") == "x,x,x"`, `#{1, 2, nil, 4} == 4`, `({n = 1, [2] = "b", "a"})[2] == "b"`,
		`(function() local a, b = 1, 2 a, b = b, a return a * 10 + b end)() == 21`,
		`(function() local t = {1, 2} t[1], t[2] = t[2], t[1] return t[1] * 10 + t[2] end)() == 21`,
		`(function() local t, i = {}, 1 i, t[i] = i + 1, 20 return t[1] == 20 and i == 2 end)()`,
		`(function() local t = {} t.a, t.b = (function() return 1, 2 end)() return t.a + t.b end)() == 3`,
		`(function() local t = {} t[1] = (function() return 1, 2 end)() return t[1] end)() == 1`,
		`(function() local function f(...) return select("#", ...) end return f({}, (f())) end)() == 2`,
		`(function(...) return "x" .. ... end)("y", "z") == "xy"`,
		`(function() return (function() return 1, 2, 3 end)() end)() == 1`,
		`select("#", (function() return (function() return 1, 2, 3 end)() end)()) == 3`,
		`(function() local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end return fact(10) end)() == 3628800`,
		`(function() local s = 0 for i, v in ipairs{1, 2, 3} do s = s + i * v end return s end)() == 14`,
		`(function() local n = 0 for k, v in pairs{a = 1, b = 2} do n = n + v end return n end)() == 3`,
		`(function() local t = setmetatable({}, {__index = function(_, k) return k .. "!" end}) return t.x end)() == "x!"`,
		`(function() local l = {} local t = setmetatable({}, {__newindex = function(_, k, v) l[k] = v end}) t.x = 1 return l.x end)() == 1`,
		`(function() function g() return 7 end return g() end)() == 7`,
		`(function() local o = {n = 1} function o:add(k) self.n = self.n + k return self end return o:add(2):add(3).n end)() == 6`,
		`(function() local fs = {} for i = 1, 3 do fs[i] = function() return i end end return fs[1]() + fs[3]() end)() == 4`,
		`(function() local ok, err = pcall(error, "x", 0) return not ok and err == "x" end)()`,
		`(function() local ok, err = pcall(error, {code = 4}) return err.code end)() == 4`,
		`(function() local ok, a, b = pcall(function() return 1, 2 end) return ok and a + b == 3 end)()`,
		`tostring(nil) == "nil" and tostring(1.5) == "1.5" and tostring(10) == "10"`,
		`tonumber("0x1F") == 31 and tonumber(" 12 ") == 12 and tonumber("z", 36) == 35 and tonumber("x") == nil and tonumber("1_0") == nil and tonumber("inf") == nil`,
		`table.concat({1, 2, 3}, "-", 2) == "2-3"`, `(function() local t = {3, 1, 2} table.sort(t) return table.concat(t) end)() == "123"`,
		`(function() local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return table.concat(t) end)() == "321"`,
		`(function() local t = {1, 3} table.insert(t, 2, 2) table.insert(t, 4) return table.concat(t) .. table.remove(t, 1) .. table.remove(t) .. #t end)() == "1234142"`,
		`select(2, "a", "b", "c") == "b" and select(-1, "a", "b") == "b" and select("#") == 0`,
		`math.floor(1.5) == 1 and math.max(1, 3, 2) == 3 and math.random == nil`,
		`next({}) == nil and next({5}) == 1`, `rawget(setmetatable({}, {__index = {x = 1}}), "x") == nil`,
		`select("#", unpack({1, nil, 3}, 1, 3)) == 3`,
	} {
		if v, err := eval(t, "return "+e); err != nil || v != lua.LTrue {
			t.Errorf("%s: %v %v", e, v, err)
		}
	}
}

func TestStrings(t *testing.T) {
	t.Parallel()
	for _, e := range []string{
		`("hello"):sub(2, -2) == "ell" and ("hello"):sub(-3) == "llo" and ("x"):sub(5) == ""`, `("abc"):byte(-1) == 99 and select("#", ("abc"):byte(1, -1)) == 3`,
		`string.char(72, 105) == "Hi"`, `("aXb"):upper():lower():reverse() == "bxa" and #"é" == 2`,
		`("hello world"):find("o w") == 5`, `("a.b"):find(".", 1, true) == 2`, `("a+b"):find("+", 1, true) == 2`, `("hello"):find("l+") == 3 and select(2, ("hello"):find("l+")) == 4`,
		`("key = value"):match("(%w+)%s*=%s*(%w+)") == "key"`, `select(2, ("key = value"):match("(%w+)%s*=%s*(%w+)")) == "value"`,
		`("2026-12-04"):match("^(%d+)-(%d+)-(%d+)$") == "2026"`, `("abc"):match("()b()") == 2`, `("x"):match("y") == nil`,
		`("f(a(b)c)d"):match("%b()") == "(a(b)c)"`, `("THE (quick) fox"):find("%((%a+)%)") == 5`, `("[]"):match("[]]") == "]" and ("a-z"):match("[a%-z]+") == "a-z" and ("^"):match("[%^]") == "^"`,
		`("hello world"):gsub("o", "0") == "hell0 w0rld"`, `select(2, ("hello"):gsub("l", "L")) == 2`, `("abc"):gsub("%w", "%0%0") == "aabbcc"`, `("abc"):gsub("", "-") == "-a-b-c-"`,
		`("hello"):gsub("l", {l = "L"}) == "heLLo"`, `("hello"):gsub("l", function(c) return c:upper() end, 1) == "heLlo"`, `("a b"):gsub("(%w) (%w)", "%2 %1") == "b a"`, `("abc"):gsub("b", "%%") == "a%c"`,
		`("  trim "):match("^%s*(.-)%s*$") == "trim"`, `("THE (quick) fox"):gsub("%f[%a]%a+", string.lower) == "the (quick) fox"`, `("aaa"):gsub("^a", "b") == "baa"`,
		`(function() local n = 0 for w in ("one two  three"):gmatch("%a+") do n = n + #w end return n end)() == 11`,
		`(function() local t = {} for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do t[k] = v end return t.a .. t.b end)() == "12"`,
		`("%5.2f|%-5d|%05d|%x|%s|%q|%%|%c|%5s"):format(3.14159, 42, 42, 255, "s", 'a"b', 65, "é") == ' 3.14|42   |00042|ff|s|"a\\"b"|%|A|    é'`,
		`("\0a"):match("%z(a)") == "a" and ("é1"):match("%d") == "1"`, `("abcabc"):match("(a)b(c)%1") == "a"`,
		`utf8.len("héllo") == 5 and utf8.char(233, 8364) == "é€" and utf8.codepoint("é") == 233 and utf8.sub("héllo", 2, 3) == "él" and utf8.offset("héllo", 3) == 4 and utf8.sub("héllo", -2) == "lo"`,
		`(function() local s = "" for p, c in utf8.codes("aé") do s = s .. p .. ":" .. c .. " " end return s end)() == "1:97 2:233 "`, `utf8.len("\255") == nil and utf8.valid("é") and not utf8.valid("\255")`,
	} {
		if v, err := eval(t, "return "+e); err != nil || v != lua.LTrue {
			t.Errorf("%s: %v %v", e, v, err)
		}
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"x = = 1":                        "t.lua:1:",
		"\n\nlocal x = 'a":               "t.lua:",
		"if x then":                      "t.lua:",
		"goto nowhere":                   "t.lua:",
		"\nerror('bad')":                 "t.lua:2: bad",
		"\n\nlocal x = nil .. 'a'":       "t.lua:3: attempt to concatenate a nil value",
		"\nlocal t t.x = 1":              "t.lua:2: attempt to index a nil value",
		"local t = {} t[nil] = 1":        "t.lua:1: table index is nil",
		"local t = {} t[0/0] = 1":        "t.lua:1: table index is NaN",
		"('x'):rep(1e9)":                 "t.lua:1: the script wants too much memory",
		"('x'):find('[a')":               "t.lua:1: malformed pattern",
		"('x'):find('%')":                "t.lua:1: malformed pattern",
		"('x'):gsub('x', '%9')":          "t.lua:1: invalid capture",
		"('%y'):format(1)":               "t.lua:1: invalid option",
		"('%999d'):format(1)":            "t.lua:1: invalid option",
		"string.x = 1":                   "t.lua:1: this table is read-only",
		"local function f() f() end f()": "stack overflow",
	} {
		_, err := eval(t, source)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", source, err, want)
		}
	}
	if _, err := eval(t, "--"+strings.Repeat("x", MaxSource)); err == nil {
		t.Error("a script of any length is read")
	}
	if v, err := eval(t, "#!/usr/bin/lua\nreturn 1"); err != nil || v != lua.LNumber(1) {
		t.Error(v, err)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	proto, err := Compile("t.lua", "while true do end")
	if err != nil {
		t.Fatal(err)
	}
	s := New(nil)
	fn := s.Chunk(proto)
	if _, err := s.Call(fn); !errors.Is(err, ErrTime) {
		t.Errorf("it runs without a budget: %v", err)
	}
	s = New(nil)
	s.Begin(t.Context(), 5*time.Millisecond, 1<<20)
	if _, err := s.Call(s.Chunk(proto)); !errors.Is(err, ErrTime) || !s.Failed() {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = New(nil)
	s.Begin(ctx, time.Minute, 1<<20)
	if _, err := s.Call(s.Chunk(proto)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s = New(nil)
	s.Begin(t.Context(), time.Minute, 1<<20)
	big, _ := Compile("t.lua", "local s = 'x' pcall(function() while true do s = s .. s end end) return 1")
	if _, err := s.Call(s.Chunk(big)); !errors.Is(err, ErrMemory) {
		t.Errorf("pcall caught the end of the budget: %v", err)
	}
}

// FuzzScripts holds that whatever is written ends in time, without taking the process with it.
func FuzzScripts(f *testing.F) {
	for _, s := range []string{
		"return 1", "local a = {} a[1], a.b = 1, {x = 2} return a", "for i = 1, 10 do x = (x or '') .. i end", "::a:: goto a",
		"return ('x'):rep(9):gsub('x', '%0y')", "return string.format('%5s', 1)", "local function f(...) return ... end return f(f(1, 2))",
		"return ('aab'):match('(a*)(b)%1')", "while true do pcall(error) end", "return {[1] = 2, 3, x = {}}", "return utf8.sub('é', 1, -1)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		proto, err := Compile("t.lua", source)
		if err != nil {
			return
		}
		s := New(nil)
		start := time.Now()
		s.Begin(context.Background(), 20*time.Millisecond, 1<<20)
		_, err = s.Call(s.Chunk(proto))
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v: %v", took, err)
		}
	})
}

// FuzzPattern holds that patterns end in time and give places inside the text.
func FuzzPattern(f *testing.F) {
	f.Add("hello", "l+")
	f.Add("aaaa", ".-.-b")
	f.Add("(a(b))", "%b()%f[%a]")
	f.Add("x=1", "^(%w+)=(%w*)$")
	proto, err := Compile("t.lua", "return function(s, p) local a, b = s:find(p) s:gsub(p, '%0') return a and (a >= 1 and b <= #s and a <= b + 1) end")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, pattern string) {
		s := New(nil)
		start := time.Now()
		s.Begin(context.Background(), 20*time.Millisecond, 1<<20)
		fn, err := s.Call(s.Chunk(proto))
		if err != nil {
			return
		}
		v, err := s.Call(fn.(*lua.LFunction), lua.LString(text), lua.LString(pattern))
		if err == nil && v == lua.LFalse {
			t.Errorf("%q in %q is found outside", pattern, text)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v: %v", took, err)
		}
		var se *Error
		if err != nil && !errors.As(err, &se) {
			t.Errorf("%T", err)
		}
	})
}

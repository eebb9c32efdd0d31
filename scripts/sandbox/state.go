package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// The sizes of a state: about 46 KiB at the beginning, of which most are functions; the stacks are bounded.
const (
	registrySize = 256
	registryMax  = 4096
	registryStep = 256
	callDepth    = 128
)

// guarded is what getmetatable says about a table that scripts may not change.
const guarded = lua.LString("read-only")

// State is one virtual machine with the base functions. It is for one goroutine at a time. A state in which a call
// failed is thrown away by its owner: see Failed.
type State struct {
	L      *lua.LState
	Budget *Budget
	// Host is whatever the owner's functions need to know about the script that runs now.
	Host any

	globals *lua.LTable // shared by all environments, never within a script's reach
	outer   *lua.LTable // the metatable of environments
	inner   *lua.LTable // the metatable of modules
	modules map[*lua.LTable]map[string]lua.LValue
	failed  bool
}

// New makes a state. install adds the owner's own functions with Global.
func New(install func(*State)) *State {
	s := &State{Budget: newBudget(), L: lua.NewState(lua.Options{
		SkipOpenLibs: true, RegistrySize: registrySize, RegistryMaxSize: registryMax, RegistryGrowStep: registryStep,
		CallStackSize: callDepth,
	})}
	s.L.SetContext(s.Budget)
	// The machine makes room for globals and registered modules that nobody here will have.
	s.L.Env = &lua.LTable{Metatable: lua.LNil}
	s.L.G.Global, s.L.G.Registry = s.L.Env, &lua.LTable{Metatable: lua.LNil}
	s.modules = map[*lua.LTable]map[string]lua.LValue{}
	s.inner = s.Object(s.moduleField, "this table is read-only")
	s.globals, s.outer = s.L.CreateTable(0, 40), s.L.CreateTable(0, 2)
	s.outer.RawSetString("__index", s.globals)
	s.outer.RawSetString("__metatable", guarded)
	s.addPrices()
	s.addBase()
	s.addStrings()
	s.Global("table", s.Module(s.tableFunctions()))
	s.Global("math", s.Module(s.mathFunctions()))
	s.Global("utf8", s.Module(s.utf8Functions()))
	if install != nil {
		install(s)
	}
	return s
}

// Global adds a value that every script sees. A table must come from Module.
func (s *State) Global(name string, v lua.LValue) { s.globals.RawSetString(name, v) }

// Module makes a read-only table. The fields are kept as they are, and the metatable is one for all: a table of the
// machine with its own takes five times as much.
func (s *State) Module(fields map[string]lua.LValue) *lua.LTable {
	t := &lua.LTable{Metatable: s.inner}
	s.modules[t] = fields
	return t
}

func (s *State) moduleField(l *lua.LState) int {
	v := lua.LNil
	t, isTable := l.Get(1).(*lua.LTable)
	name, isText := l.Get(2).(lua.LString)
	if isTable && isText {
		if field, ok := s.modules[t][string(name)]; ok {
			v = field
		}
	}
	l.Push(v)
	return 1
}

// Object makes the metatable of tables whose fields are looked up by get; they cannot be changed by a script.
func (s *State) Object(get lua.LGFunction, readOnly string) *lua.LTable {
	mt := s.L.CreateTable(0, 3)
	mt.RawSetString("__index", s.Func(get))
	mt.RawSetString("__newindex", s.Func(func(l *lua.LState) int {
		l.RaiseError("%s", readOnly)
		return 0
	}))
	mt.RawSetString("__metatable", guarded)
	return mt
}

// Func makes a function of the state.
func (s *State) Func(fn lua.LGFunction) *lua.LFunction { return s.L.NewFunction(fn) }

// Begin gives the calls that follow, together, limit of time and memory bytes.
func (s *State) Begin(ctx context.Context, limit time.Duration, memory int) {
	s.Budget.begin(ctx, limit, memory)
}

// End takes the budget away: nothing runs until the next Begin.
func (s *State) End() {
	s.Host = nil
	s.Budget.err, s.Budget.parent = ErrTime, context.Background()
	s.L.SetTop(0)
}

// Failed reports that a call failed, after which the state is not to be used for another script.
func (s *State) Failed() bool { return s.failed }

// Spoil marks the state as not to be used again.
func (s *State) Spoil() { s.failed = true }

// Chunk makes a compiled script a function in an environment of its own.
func (s *State) Chunk(proto *lua.FunctionProto) *lua.LFunction {
	fn := s.L.NewFunctionFromProto(proto)
	fn.Env = &lua.LTable{Metatable: s.outer}
	return fn
}

// Call calls fn and returns its first result. The error is worded FILE:LINE: what.
func (s *State) Call(fn *lua.LFunction, args ...lua.LValue) (v lua.LValue, err error) {
	// The machine itself panics where it cannot even say what went wrong: a stack that is full at the first
	// instruction of a function.
	defer func() {
		if p := recover(); p != nil {
			s.failed = true
			v, err = lua.LNil, &Error{Msg: fmt.Sprintf("%s: the script broke the Lua machine: %v", Where(fn), p), Err: s.Budget.err}
		}
	}()
	if err := s.L.CallByParam(lua.P{Fn: fn, NRet: 1, Protect: true}, args...); err != nil {
		s.failed = true
		return lua.LNil, s.worded(fn, err)
	}
	v = s.L.Get(-1)
	s.L.Pop(1)
	return v, nil
}

// Error is a script's failure.
type Error struct {
	Msg string // FILE:LINE: what
	Err error  // ErrTime, ErrMemory, the context's error, or nil
}

func (e *Error) Error() string { return e.Msg }

// Unwrap returns why the script was stopped, if it was.
func (e *Error) Unwrap() error { return e.Err }

// worded makes an error that is short and says where it was.
func (s *State) worded(fn *lua.LFunction, err error) error {
	const most = 1000
	msg := err.Error()
	if api, ok := errors.AsType[*lua.ApiError](err); ok && api.Object != nil {
		msg = api.Object.String()
		if _, isText := api.Object.(lua.LString); !isText {
			msg = fmt.Sprintf("%s: the error is a %s", Where(fn), api.Object.Type())
		}
	}
	if !strings.Contains(msg, ".lua:") { // error(text, 0), and what the machine itself says
		msg = Where(fn) + ": " + msg
	}
	if len(msg) > most {
		msg = msg[:most] + "..."
	}
	return &Error{Msg: msg, Err: s.Budget.err}
}

// Where is the place of a Lua function, FILE:LINE.
func Where(fn *lua.LFunction) string {
	if fn == nil || fn.Proto == nil {
		return "?"
	}
	return fmt.Sprintf("%s:%d", fn.Proto.SourceName, fn.Proto.LineDefined)
}

// CheckWritable raises when the table at argument n is one that scripts may not change.
func CheckWritable(l *lua.LState, n int) *lua.LTable {
	t := l.CheckTable(n)
	if isGuarded(t) {
		l.RaiseError("this table is read-only")
	}
	return t
}

func isGuarded(t *lua.LTable) bool {
	mt, ok := t.Metatable.(*lua.LTable)
	return ok && mt.RawGetString("__metatable") != lua.LNil
}

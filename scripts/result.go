package scripts

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/maishell/maishell/guard"
)

// resultTable is what a post hook gets: texts that it may change, status, exit_code and error to read.
func (r *run) resultTable(s guard.Shown, command bool) *lua.LTable {
	t := r.m.L.CreateTable(0, 6)
	t.RawSetString("note", lua.LString(s.Note))
	t.RawSetString("status", lua.LString(s.Status))
	if s.Error != "" {
		t.RawSetString("error", lua.LString(s.Error))
	}
	if s.ExitCode != nil {
		t.RawSetString("exit_code", lua.LNumber(*s.ExitCode))
	}
	if command {
		t.RawSetString("stdout", lua.LString(s.Stdout))
		t.RawSetString("stderr", lua.LString(s.Stderr))
	} else {
		t.RawSetString("text", lua.LString(s.Text))
	}
	return t
}

// readResult takes the texts of what a post hook returned; nothing means the table that it was given.
func readResult(d def, given *lua.LTable, returned lua.LValue, before guard.Shown, command bool) (guard.Shown, error) {
	t := given
	switch v := returned.(type) {
	case *lua.LNilType:
	case *lua.LTable:
		t = v
	default:
		return before, fmt.Errorf("%s: a post hook returns the result, not a %s", d.where, v.Type())
	}
	after := before
	texts := map[string]*string{"note": &after.Note}
	if command {
		texts["stdout"], texts["stderr"] = &after.Stdout, &after.Stderr
	} else {
		texts["text"] = &after.Text
	}
	var bad error
	t.ForEach(func(k, v lua.LValue) {
		name := k.String()
		into := texts[name]
		switch text, isText := v.(lua.LString); {
		case into != nil && isText:
			*into = string(text)
		case into != nil:
			bad = fmt.Errorf("%s: result.%s is a %s, not a text", d.where, name, v.Type())
		case name != "status" && name != "exit_code" && name != "error":
			bad = fmt.Errorf("%s: a result has no field %q", d.where, clip(name, 50))
		}
	})
	if bad != nil {
		return before, bad
	}
	for name := range texts {
		if t.RawGetString(name) == lua.LNil {
			return before, fmt.Errorf("%s: result.%s is missing", d.where, name)
		}
	}
	var code, message lua.LValue = lua.LNil, lua.LNil //nolint:staticcheck // other values follow
	if before.ExitCode != nil {
		code = lua.LNumber(*before.ExitCode)
	}
	if before.Error != "" {
		message = lua.LString(before.Error)
	}
	if t.RawGetString("exit_code") != code || t.RawGetString("status") != lua.LString(before.Status) || t.RawGetString("error") != message {
		return before, fmt.Errorf("%s: a post hook cannot change status, exit_code or error", d.where)
	}
	return after, nil
}

package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/maishell/maishell/guard"
)

func TestResultJSON(t *testing.T) {
	t.Parallel()
	type body struct {
		Out  string `json:"out"`
		Code *int   `json:"code"`
	}
	var none *body
	tests := []struct {
		name string
		res  Result
		want string
	}{
		{"no body", Result{Status: guard.StatusOK}, `{"success":true,"status":"ok"}`},
		{"running is fine", Result{Status: guard.StatusRunning}, `{"success":true,"status":"running"}`},
		{"zero", Result{}, `{"success":false,"status":""}`},
		{"struct", Result{Status: guard.StatusOK, Body: body{Out: "a<b>&c\u2028"}}, `{"success":true,"status":"ok","out":"a<b>&c\u2028","code":null}`},
		{"pointer", Result{Status: guard.StatusOK, Body: &body{}}, `{"success":true,"status":"ok","out":"","code":null}`},
		{"nil pointer", Result{Status: guard.StatusOK, Body: none}, `{"success":true,"status":"ok"}`},
		{"error and rule", Result{Status: guard.StatusPolicyDenied, Error: "no", Rule: "r", Body: map[string]any{"x": 1}}, `{"success":false,"status":"policy_denied","error":"no","rule":"r","x":1}`},
		{"map cannot lie", Result{Status: guard.StatusTimeout, Body: map[string]any{"success": true, "status": "ok", "error": "", "rule": "", "x": 1}}, `{"success":false,"status":"timeout","x":1}`},
		{"empty map", Result{Status: guard.StatusOK, Body: map[string]any{}}, `{"success":true,"status":"ok"}`},
		{"not an object", Result{Status: guard.StatusOK, Body: []int{1}}, `{"success":false,"status":"internal","error":"the tool's result is not an object"}`},
		{"cannot be written", Result{Status: guard.StatusOK, Body: map[string]any{"f": func() {}}}, `{"success":false,"status":"internal","error":"the tool's result is not an object"}`},
		{"bad UTF-8", Result{Status: guard.StatusOK, Body: body{Out: "a\xff\x00b"}}, `{"success":true,"status":"ok","out":"a\ufffd\u0000b","code":null}`},
	}
	for _, tt := range tests {
		got := tt.res.JSON()
		if !utf8.Valid(got) || strings.ContainsAny(string(got), "\n\r\x00") {
			t.Errorf("%s: not one line of clean UTF-8: %q", tt.name, got)
		}
		var g, w any
		if err := json.Unmarshal(got, &g); err != nil {
			t.Errorf("%s: %v: %s", tt.name, err, got)
			continue
		}
		if err := json.Unmarshal([]byte(tt.want), &w); err != nil {
			t.Fatal(err)
		}
		gb, _ := json.Marshal(g)
		wb, _ := json.Marshal(w)
		if string(gb) != string(wb) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		if !strings.HasPrefix(string(got), `{"success":`) {
			t.Errorf("%s: success does not come first: %s", tt.name, got)
		}
	}
	if got := string(Result{Status: guard.StatusOK, Body: body{Out: "<&>"}}.JSON()); !strings.Contains(got, "<&>") {
		t.Errorf("HTML is escaped: %s", got)
	}
	whole, err := json.Marshal(Result{Status: guard.StatusOK})
	if err != nil || string(whole) != `{"success":true,"status":"ok"}` {
		t.Errorf("MarshalJSON: %s, %v", whole, err)
	}
}

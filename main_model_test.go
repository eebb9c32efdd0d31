package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/maishell/maishell/llm/llmtest"
)

// fakeModel SCRIPT starts a service on loopback that answers as the lines of the file say, and has maishell use it.
func fakeModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fakemodel SCRIPT")
	}
	steps, err := llmtest.Script(ts.ReadFile(args[0]))
	ts.Check(err)
	srv := llmtest.New(steps...)
	ts.Defer(srv.Close)
	ts.Setenv("MAISHELL_LLM__BASE_URL", srv.URL)
	ts.Setenv("MAISHELL_LLM__MODEL", "fake")
}

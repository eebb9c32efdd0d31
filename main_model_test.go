package main

import (
	"net/url"

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

// fakeProxy SCRIPT starts a service that answers in the place of any host, as a proxy does, and names it in HTTP_PROXY. The
// model is at a host that does not exist.
func fakeProxy(ts *testscript.TestScript, neg bool, args []string) {
	fakeModel(ts, neg, args)
	proxy, err := url.Parse(ts.Getenv("MAISHELL_LLM__BASE_URL"))
	ts.Check(err)
	ts.Setenv("HTTP_PROXY", "http://"+proxy.Host)
	ts.Setenv("MAISHELL_LLM__BASE_URL", "http://model.invalid"+proxy.Path)
}

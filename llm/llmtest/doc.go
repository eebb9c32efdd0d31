// Package llmtest is a scripted OpenAI-compatible service for tests: a real HTTP server on loopback that streams, cuts,
// refuses and misbehaves as its script says. It owns the script and what it was asked; the program itself never
// imports it.
//
// Invariant: each request takes the next step of the script; when there is none, or the step expected something else,
// the answer says so in a text that no test can mistake for a success.
package llmtest

// Package tools owns what the agent can do: the Tool type, the registry of tools, a caller's view of it, and the one
// pipeline by which a tool runs: found, allowed for the caller's role at this moment, arguments decoded strictly
// against the tool's JSON schema, planned as a guard.Action, and performed by guard.Do.
//
// It never decides policy, never starts a process and never takes identity from arguments: the origin of a call is
// that of the View, and Invoke alone puts it into the context.
//
// Invariant: a tool's plan and run functions are reached only through View.Invoke, and run only from inside guard.Do.
package tools

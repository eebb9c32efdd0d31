// Package subagent owns the tools ask_subagent and ask_subagents: a model with a fresh conversation works on a part of
// a task and gives back one answer.
//
// A sub-agent is a child of the session that asked: the same person, role, ceiling and files, fewer tools. It talks to
// nobody, asks no further sub-agents and keeps nothing.
//
// Invariant: its view never holds a tool that executes, destroys or raises privilege, whoever registered it, nor a tool
// that was not asked for; a call of one is refused and recorded, however the model came by the name. When the asking turn
// ends, its sub-agents end.
package subagent

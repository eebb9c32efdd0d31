// Package guard is the one door that every effect goes through: Do judges an action, asks a person where the verdict
// says so, commits the intent, runs the effect and records what came of it.
//
// It owns the order of these steps, the merging of verdicts, the wording-free refusals and the floor that keeps the
// program from changing its own rules (OwnFiles, CommandFloor). It never knows what a tool does, never reads shell text
// itself (policy does), never shows anything to anyone, and holds no lock: deciders, approvers, effects and the sink
// are called freely.
//
// Invariants:
//   - No effect runs whose intent record is not committed, and none without an origin, a role and a verdict other than
//     deny from every decider. Whatever cannot be decided is denied.
//   - Every effect that ran has an outcome record, or its Outcome says that the record failed.
//   - What a person agreed to is judged once more, with the caller's present role, before it runs.
package guard

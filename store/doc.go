// Package store keeps what must survive the process in one SQLite file, maishell.db: the audit trail, the list of
// running instances, conversations, and what models cost. It implements the small interfaces of the packages whose data
// it keeps (audit.Sink, agent.History, llm.Spender).
//
// It never decides anything, words anything or filters anything.
//
// Invariants:
//   - Append returns only after the record is committed. A record that was acknowledged is there after a crash of the
//     process (kill -9); after a crash of the machine the newest records may be gone, which Verify then reports.
//   - The records form one hash chain over all processes that share the directory. Its head is kept twice more: in the
//     table head, and in the file audit.head, which is never ahead of the database unless records were lost.
//   - An intent whose process died without recording an outcome gets exactly one event record with the status
//     "interrupted", whichever of several starting processes comes first.
//
// The directory belongs to one user account and one machine: processes are told apart by pid and start time, so two
// machines, or two containers with separate process tables, must not share it.
package store

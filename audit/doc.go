// Package audit defines what is recorded about every call and how the records hold together: the Record, the Sink
// that keeps them, and the hash chain over them.
//
// It never stores, words or filters anything: a record's texts have passed the secret filter before they get here,
// and where the rows live is the Sink's business.
//
// Invariant: a record that was sealed and is later changed, removed, added or moved in any way makes Verifier report
// a problem, as long as the head (the last record's number and hash) is known from somewhere else.
//
// # The hash
//
// Hash is the lower-case hexadecimal SHA-256 of the bytes "maishell audit 1\n" followed by one entry for each field
// that is not empty, in the order given in canonical.go:
//
//	name SP length ":" value "\n"
//
// where length is the number of bytes of value in decimal. A list is the concatenation of its items, each as
// length ":" item. Seq and exit code are decimal numbers, Time is the decimal number of microseconds since 1970 UTC.
// The encoding is unambiguous because every value carries its length, and a field that is added later leaves the
// hashes of older records alone because an empty field has no entry. Prev, the hash of the record before, is one of
// the fields; it is empty for the first record only.
package audit

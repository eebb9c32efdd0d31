// Package paths follows paths the way the kernel does and says what was on the way: links, directories, the file at
// the end or where it would be.
//
// It owns the rules of names that differ between systems (case, streams, hard links). It never changes anything, and it
// does not know what anyone wants a path for.
//
// Invariant: every path has an answer; one that cannot be followed leads to itself.
package paths

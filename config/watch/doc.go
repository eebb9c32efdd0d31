// Package watch tells when the content of files changed, whichever way it is changed: in place, by a rename over the
// file, by a swapped link somewhere on the way to it, by deletion and re-creation of the file or of its directory. It
// watches the directories that the paths lead through and compares content; where a file system gives no events, and
// as a net under all events, it looks at the files at an interval.
//
// It never interprets what it reads and never writes.
//
// Invariant: whatever the events say, once a file is left alone its last content is reported; content that equals what
// was reported before is not.
package watch

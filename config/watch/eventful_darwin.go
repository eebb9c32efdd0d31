package watch

import "os"

// maxEntries bounds the directories whose events are asked for: the system's event source holds one open descriptor
// for every entry of a directory.
const maxEntries = 256

// eventful reports whether a directory's events are worth what they cost; the others are only polled.
func eventful(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	names, _ := f.Readdirnames(maxEntries + 1) // an error comes with fewer names
	_ = f.Close()                              // nothing was written
	return len(names) <= maxEntries
}

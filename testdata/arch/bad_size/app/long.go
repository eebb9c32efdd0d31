// Package app has a function that is too long in a file that is too long.
package app

func long(n int) int {
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	n++
	return n
}

// A
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
// line
func short() {}

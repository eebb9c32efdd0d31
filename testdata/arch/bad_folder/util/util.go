// Package util is no package of the table.
package util

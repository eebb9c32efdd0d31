package paths

import (
	"os"
	"path/filepath"
	"strings"
)

// Absolute puts path below cwd, or below the working directory of this process when cwd is not absolute. It does not
// clean: "link/.." is not where it seems to be.
func Absolute(path, cwd string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if filepath.VolumeName(path) != "" { // relative to the working directory of another drive
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
	}
	if !filepath.IsAbs(cwd) {
		wd, err := os.Getwd()
		if err != nil {
			wd = string(filepath.Separator)
		}
		cwd = filepath.Join(wd, cwd)
	}
	if path != "" && os.IsPathSeparator(path[0]) { // from the root of the same drive
		return filepath.VolumeName(cwd) + path
	}
	return cwd + string(filepath.Separator) + path
}

// Within reports whether path is dir or below it, by their text.
func Within(dir, path string) bool {
	rest, ok := strings.CutPrefix(Key(path), Key(dir))
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || dir != "" && os.IsPathSeparator(dir[len(dir)-1]))
}

// Split returns the elements of a path, without empty ones and dots.
func Split(path string) []string {
	var out []string
	for name := range strings.FieldsFuncSeq(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if name != "." {
			out = append(out, name)
		}
	}
	return out
}

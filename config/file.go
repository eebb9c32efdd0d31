package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"
)

const maxFile = 1 << 20 // bytes

// readFile returns the text of a configuration file without byte order mark. It opens regular files only, so that a
// pipe does not block. What it could read of a file that is too big or no UTF-8 comes with the problem.
func readFile(path string) ([]byte, []*Problem) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem(path, "config.missing")
	case err != nil:
		return nil, problem(path, "config.unreadable", reason(err))
	case info.IsDir():
		return nil, problem(path, "config.is_dir")
	case !info.Mode().IsRegular():
		return nil, problem(path, "config.not_regular")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, problem(path, "config.unreadable", reason(err))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, problem(path, "config.unreadable", reason(err))
	}
	if len(data) > maxFile {
		return data, problem(path, "config.too_big", maxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return data, checkBytes(path, data)
}

// checkBytes finds what no text has in it. UTF-16 is wrong everywhere, so no line is named for it.
func checkBytes(path string, data []byte) []*Problem {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return problem(path, "config.not_utf8")
	}
	valid := len(data)
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			valid = i
			break
		}
		i += size
	}
	if nul := bytes.IndexByte(data[:valid], 0); nul >= 0 {
		return problem(at(path, data, nul), "config.nul_byte")
	}
	if valid < len(data) {
		return problem(at(path, data, valid), "config.not_utf8")
	}
	return nil
}

// at is the place of a byte as problems name it; the column counts bytes, as everywhere.
func at(path string, data []byte, offset int) string {
	line := bytes.Count(data[:offset], []byte{'\n'}) + 1
	return fmt.Sprintf("%s:%d:%d", path, line, offset-bytes.LastIndexByte(data[:offset], '\n'))
}

// reason is an error without the path, which the message names already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

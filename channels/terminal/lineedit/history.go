package lineedit

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// History is the lines that were entered, the oldest first, kept in a file of one quoted line each when it has one. It
// is safe for concurrent use. Several processes may share the file: each adds its lines at the end.
type History struct {
	path   string
	filter func(string) string

	mu    sync.Mutex
	lines []string
}

// maxHistory is how many lines are kept; the file may hold up to twice as many before it is written anew.
const maxHistory = 1000

// maxHistoryLine is the longest line that is worth keeping, in bytes.
const maxHistoryLine = 8 << 10

// OpenHistory reads the history in the file path, which need not exist; "": it is kept in memory alone. filter takes
// secrets out of what is kept; nil: nothing. The error says what keeps the file from being used; the history then works
// without it.
func OpenHistory(path string, filter func(string) string) (*History, error) {
	h := &History{path: path, filter: filter}
	if path == "" {
		return h, nil
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, nil
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	}
	if err == nil {
		err = h.read()
	}
	if err != nil {
		h.path = ""
		return h, fmt.Errorf("history %s: %w", path, err)
	}
	return h, nil
}

// read takes the lines of the file in; what is no line of a history is skipped.
func (h *History) read() error {
	f, err := os.Open(h.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 8*maxHistoryLine)
	count := 0
	for in.Scan() {
		count++
		if line, err := strconv.Unquote(in.Text()); err == nil && line != "" {
			h.lines = append(h.lines, line)
		}
	}
	h.lines = h.lines[max(0, len(h.lines)-maxHistory):]
	if err := in.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return err
	}
	if count > 2*maxHistory {
		return h.rewrite()
	}
	return nil
}

// rewrite replaces the file by one with the lines that are kept.
func (h *History) rewrite() error {
	f, err := os.CreateTemp(filepath.Dir(h.path), ".history-*") // 0600
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, line := range h.lines {
		all.WriteString(strconv.Quote(line) + "\n")
	}
	_, err = f.WriteString(all.String())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Add keeps a line, unless it is blank or the same as the one before. A file that cannot be written keeps the line from
// later processes only.
func (h *History) Add(line string) error {
	if h.filter != nil {
		line = h.filter(line)
	}
	if strings.TrimSpace(line) == "" || len(line) > maxHistoryLine {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.lines); n > 0 && h.lines[n-1] == line {
		return nil
	}
	if h.lines = append(h.lines, line); len(h.lines) > maxHistory {
		h.lines = h.lines[1:]
	}
	if h.path == "" {
		return nil
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Quote(line) + "\n")
	return errors.Join(err, f.Close())
}

// len is how many lines there are, at the i-th of them.
func (h *History) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.lines)
}

func (h *History) at(i int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < 0 || i >= len(h.lines) {
		return ""
	}
	return h.lines[i]
}

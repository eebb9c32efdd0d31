package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/maishell/maishell/audit"
)

// headFile is the copy of the trail's head outside the database: one line of fixed length, overwritten after each
// commit. Several processes write it without a lock, so it may lag behind the database by what was committed in
// between, but whatever it names was committed before.
type headFile struct {
	f *os.File
}

const (
	headSeqLen  = 19 // digits of the largest int64
	headHashLen = 64
	headSumLen  = 16
	headLineLen = headSeqLen + 1 + headHashLen + 1 + headSumLen + 1
)

func openHeadFile(path string) (*headFile, error) {
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, &Error{Code: "store.cannot_create", Args: []any{path, cause(err)}, Err: err}
	}
	return &headFile{f: f}, nil
}

var errHeadGarbled = errors.New("audit.head cannot be read")

// read returns the zero head for a file that was never written.
func (h *headFile) read() (audit.Head, error) {
	buf := make([]byte, headLineLen)
	var err error
	for range 3 { // a writer may be in the middle of the line
		n, readErr := h.f.ReadAt(buf, 0)
		if n == 0 && errors.Is(readErr, io.EOF) {
			return audit.Head{}, nil
		}
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return audit.Head{}, readErr
		}
		var head audit.Head
		if head, err = parseHead(string(buf[:n])); err == nil {
			return head, nil
		}
	}
	return audit.Head{}, err
}

func (h *headFile) write(head audit.Head) error {
	_, err := h.f.WriteAt([]byte(headLine(head)), 0)
	return err
}

func (h *headFile) close() error { return h.f.Close() }

func headLine(h audit.Head) string {
	body := fmt.Sprintf("%0*d %s ", headSeqLen, h.Seq, h.Hash)
	sum := sha256.Sum256([]byte(body))
	return body + hex.EncodeToString(sum[:headSumLen/2]) + "\n"
}

func parseHead(line string) (audit.Head, error) {
	if len(line) != headLineLen {
		return audit.Head{}, errHeadGarbled
	}
	seq, err := strconv.ParseInt(line[:headSeqLen], 10, 64)
	h := audit.Head{Seq: seq, Hash: line[headSeqLen+1 : headSeqLen+1+headHashLen]}
	if err != nil || line != headLine(h) {
		return audit.Head{}, errHeadGarbled
	}
	return h, nil
}

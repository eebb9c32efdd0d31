package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/tools"
)

const (
	bufferSize = 64 << 10
	// sniffed is how much of a file decides whether it is text.
	sniffed = 8 << 10
	// secretSlack is how far beyond a cut the secret filter looks, so that half a secret is recognised.
	secretSlack = 16 << 10
	// readDeadline bounds the wait for a file that has nothing to say yet.
	readDeadline = 5 * time.Second
)

// text is the body of read_file for a file.
type text struct {
	Path      string `json:"path"`
	Content   string `json:"content"`
	Size      int64  `json:"size_bytes"`
	FirstLine int    `json:"first_line,omitempty"`
	LastLine  int    `json:"last_line,omitempty"`
	Binary    bool   `json:"binary,omitempty"`
	Truncated bool   `json:"truncated"`
	Next      int    `json:"next_offset,omitempty"` // where to go on, when truncated
	Note      string `json:"note,omitempty"`
}

func (h *handler) planRead(ctx context.Context, a readArgs) (guard.Action, error) {
	t, err := h.locate(ctx, a.Path)
	if err != nil {
		return guard.Action{}, err
	}
	return guard.Action{Reads: []string{t.abs}}, nil
}

func (h *handler) read(ctx context.Context, a readArgs, _ guard.Action) (tools.Result, error) {
	t, err := h.locate(ctx, a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	f, fi, err := h.openRead(t)
	if err != nil {
		return tools.Result{}, fault(t, err)
	}
	defer f.Close()
	if fi.IsDir() {
		return h.listing(t, f, true)
	}
	body := text{Path: t.abs, Size: fi.Size()}
	if err := h.fill(ctx, &body, f, a); err != nil {
		return tools.Result{}, fault(t, err)
	}
	return tools.Result{Body: body}, nil
}

// fill reads the lines that are asked for into the body.
func (h *handler) fill(ctx context.Context, body *text, f *os.File, a readArgs) error {
	cat := h.opts.Texts()
	most := h.opts.Settings().MaxReadBytes
	if most <= 0 {
		most = defaultMaxRead
	}
	// Some kernel files are regular and yet block. Where deadlines do not work, reading does not block.
	_ = f.SetReadDeadline(time.Now().Add(readDeadline))
	r := bufio.NewReaderSize(&stoppable{ctx: ctx, from: f}, bufferSize)
	start, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.IndexByte(start, 0) >= 0 {
		body.Binary = true
		body.Note = cat.Say("tool_files.binary", body.Size)
		return nil
	}
	first := max(a.Offset, 1)
	lines, ended, err := skipLines(r, first-1)
	if err != nil {
		return err
	}
	if ended {
		body.Note = cat.Say("tool_files.past_end", lines)
		return nil
	}
	c, err := take(r, a.Limit, most)
	if err != nil {
		return err
	}
	body.FirstLine = first
	body.LastLine = first + max(c.lines, 1) - 1
	body.Content = h.clean(c)
	body.Truncated = c.more
	if c.more {
		body.Next = body.LastLine + 1
		body.Note = cat.Say("tool_files.more", body.Next)
		if c.midLine {
			body.Note = cat.Say("tool_files.line_cut", body.LastLine, most, body.Next)
		}
	}
	if first == 1 {
		body.Content = strings.TrimPrefix(body.Content, "\ufeff")
	}
	if !utf8.ValidString(body.Content) {
		body.Content = strings.ToValidUTF8(body.Content, "\ufffd")
		body.Note = strings.TrimSpace(body.Note + " " + cat.Say("tool_files.not_utf8"))
	}
	return nil
}

// stoppable ends a long read with its context.
type stoppable struct {
	ctx  context.Context
	from io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.from.Read(p)
}

// skipLines passes over n lines. When the file ends with them or before, ended is true and lines is how many it has; a last
// line without a line end counts.
func skipLines(r *bufio.Reader, n int) (lines int, ended bool, err error) {
	open := false // within a line
	for lines < n {
		piece, err := r.ReadSlice('\n')
		if len(piece) > 0 {
			open = piece[len(piece)-1] != '\n'
		}
		switch {
		case err == nil:
			lines++
		case errors.Is(err, io.EOF):
			if open {
				lines++
			}
			return lines, true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return lines, false, err
		}
	}
	_, err = r.Peek(1)
	if errors.Is(err, io.EOF) {
		return lines, n > 0, nil
	}
	return lines, false, err
}

// chunk is a piece of a file.
type chunk struct {
	data    []byte // what is shown
	beyond  []byte // data and what follows it, for the secret filter
	lines   int    // lines in data; a last one without a line end counts
	more    bool   // the file goes on
	midLine bool   // data ends within a line that is longer than the limit
}

// take reads up to limit lines (0: any number) and most bytes. It cuts at a line end unless the first line alone is too long.
func take(r *bufio.Reader, limit, most int) (chunk, error) {
	var c chunk
	var buf []byte
	end, ended := 0, false // end of the last whole line that fits
	for !ended && len(buf) <= most && (limit == 0 || c.lines < limit) {
		piece, err := r.ReadSlice('\n')
		buf = append(buf, piece...)
		switch {
		case errors.Is(err, io.EOF):
			ended = true
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return chunk{}, err
		}
		if wholeLine := err == nil || ended && len(buf) > end; wholeLine && len(buf) <= most {
			end = len(buf)
			c.lines++
		}
	}
	if end == 0 && len(buf) > most { // one long line
		end = charStart(buf, most)
		c.lines, c.midLine = 1, true
	}
	rest, err := r.Peek(secretSlack)
	if err != nil && !errors.Is(err, io.EOF) {
		return chunk{}, err
	}
	c.data = buf[:end]
	c.more = end < len(buf) || len(rest) > 0
	c.beyond = append(buf, rest...)
	return c, nil
}

// charStart is the largest cut ≤ n that does not split a UTF-8 character.
func charStart(b []byte, n int) int {
	for i := n; i > max(0, n-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return n
}

// clean is the chunk without secrets. Where the filter sees more once it knows what follows, a secret lies across the cut:
// only what is the same either way is shown.
func (h *handler) clean(c chunk) string {
	if h.opts.Redact == nil {
		return string(c.data)
	}
	shown := h.opts.Redact(string(c.data))
	if !c.more {
		return shown
	}
	known := h.opts.Redact(string(c.beyond))
	same := 0
	for same < min(len(shown), len(known)) && shown[same] == known[same] {
		same++
	}
	return shown[:same]
}

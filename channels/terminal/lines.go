package terminal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
)

// maxLine is the longest line taken, in bytes without its line end.
const maxLine = 1 << 20

// How far the reader runs ahead of the consumer. At a keyboard it must run ahead, to know which lines were typed
// before a question; from a pipe one line ahead is enough.
const (
	aheadTyped = 1000
	aheadPiped = 1
)

// line is one line of input, byte for byte. A line with a flaw has lost its text.
type line struct {
	seq  uint64
	text string
	flaw flaw
}

// flaw is why a line cannot be used.
type flaw int

const (
	sound   flaw = iota
	tooLong      // over maxLine
	cut          // as long as a terminal hands over: what came after that is lost
)

// lines hands out the lines of a reader one by one. Waiting can be cancelled without losing a line.
type lines struct {
	read1 func() (text string, f flaw, err error) // reads one line
	ahead int
	begin sync.Once

	mu       sync.Mutex
	queue    []line
	last     uint64        // seq of the newest line read
	err      error         // why reading ended; io.EOF at the end of input
	asking   bool          // a question waits for its answer
	asked    uint64        // while asking: lines up to this one are not its answer, all later ones are
	stopped  bool          // no more lines are wanted
	progress chan struct{} // closed and replaced at every change
}

// newLines reads in. A line of typed bytes was cut by the terminal; 0: lines come whole.
func newLines(in io.Reader, ahead, typed int) *lines {
	buffered := bufio.NewReaderSize(in, 64<<10)
	read := func() (string, flaw, error) { return readLine(buffered, typed) }
	return &lines{read1: read, ahead: ahead, progress: make(chan struct{})}
}

// next waits for the next line that is not the answer to an open question, or for an interrupt (ErrInterrupted).
func (l *lines) next(ctx context.Context, interrupt <-chan struct{}) (line, error) {
	return l.take(ctx, interrupt, func() int {
		if len(l.queue) > 0 && (!l.asking || l.queue[0].seq <= l.asked) {
			return 0
		}
		return -1
	})
}

// newest is the number of the newest line read.
func (l *lines) newest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// waiting is the lines that are not the answer to an open question, what tells of a change, and why no more will come.
func (l *lines) waiting() (queue []line, progress <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.queue {
		if !l.asking || q.seq <= l.asked {
			queue = append(queue, q)
		}
	}
	return queue, l.progress, l.err
}

// remove takes a line out; false: somebody else did.
func (l *lines) remove(which line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, q := range l.queue {
		if q.seq == which.seq {
			l.queue = append(l.queue[:i], l.queue[i+1:]...)
			l.changed()
			return true
		}
	}
	return false
}

// look makes everybody who waits look again, because something else than the lines has changed.
func (l *lines) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed()
}

// ended tells whether no more lines will come.
func (l *lines) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil && len(l.queue) == 0
}

// open starts a question: lines read from now on are kept for answer until shut. One question at a time.
func (l *lines) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking, l.asked = true, l.last
	l.changed()
}

// shut ends the question; lines that were not taken as its answer are ordinary ones.
func (l *lines) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = false
	l.changed()
}

// answer waits for the first line read since open.
func (l *lines) answer(ctx context.Context) (line, error) {
	return l.take(ctx, nil, func() int {
		for i, q := range l.queue {
			if q.seq > l.asked {
				return i
			}
		}
		return -1
	})
}

// take waits until find, called with the lock held, names an entry of the queue, and removes that entry.
func (l *lines) take(ctx context.Context, interrupt <-chan struct{}, find func() int) (line, error) {
	l.begin.Do(func() { go l.read() })
	for {
		if err := ctx.Err(); err != nil {
			return line{}, err
		}
		l.mu.Lock()
		if i := find(); i >= 0 {
			got := l.queue[i]
			l.queue = append(l.queue[:i], l.queue[i+1:]...)
			l.changed()
			l.mu.Unlock()
			return got, nil
		}
		err, progress := l.err, l.progress
		l.mu.Unlock()
		if err != nil {
			return line{}, err
		}
		select {
		case <-progress:
		case <-interrupt:
			return line{}, ErrInterrupted
		case <-ctx.Done():
		}
	}
}

// stop makes the reader end after the read it is in. Whoever waits for a line from now on gets io.EOF.
func (l *lines) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.err == nil {
		l.err = io.EOF
	}
	l.changed()
}

// changed wakes everybody who waits. The lock is held.
func (l *lines) changed() {
	close(l.progress)
	l.progress = make(chan struct{})
}

// read fills the queue until the input ends or stop.
func (l *lines) read() {
	for first := true; l.room(); first = false {
		text, flaw, err := l.read1()
		if first {
			text = strings.TrimPrefix(text, "\uFEFF") // Windows shells put one in front of what they pipe
		}
		l.mu.Lock()
		if text != "" || flaw != sound || err == nil {
			l.last++
			l.queue = append(l.queue, line{seq: l.last, text: text, flaw: flaw})
		}
		if l.err == nil {
			l.err = err
		}
		l.changed()
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// room waits until one more line may be read. False: none is wanted any more. A question always gets its answer, however
// much was typed ahead.
func (l *lines) room() bool {
	for {
		l.mu.Lock()
		stopped, room, progress := l.stopped, len(l.queue) < l.ahead || l.asking && l.last == l.asked, l.progress
		l.mu.Unlock()
		if stopped || room {
			return !stopped
		}
		<-progress
	}
}

// readLine reads up to the next newline: text without its line end. At the end of input the last line may come together
// with the error.
func readLine(in *bufio.Reader, typed int) (text string, f flaw, err error) {
	var buf []byte
	for {
		part, err := in.ReadSlice('\n')
		if f == sound {
			buf = append(buf, part...)
		}
		if len(buf) > maxLine+len("\r\n") {
			buf, f = nil, tooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		buf = bytes.TrimSuffix(buf, []byte("\n"))
		if typed > 0 && len(buf) >= typed || f != sound && typed > 0 {
			return "", cut, err
		}
		if buf = bytes.TrimSuffix(buf, []byte("\r")); len(buf) > maxLine {
			buf, f = nil, tooLong
		}
		return string(buf), f, err
	}
}

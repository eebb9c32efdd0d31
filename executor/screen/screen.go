package screen

import (
	"strings"
	"sync"

	"github.com/hinshun/vt10x"
)

// Term is the terminal type that a Screen is: the value of TERM for its program.
const Term = "xterm-256color"

// MaxSize is the largest number of columns and of rows; the smallest is 1.
const MaxSize = 1000

// Bounds of what is kept.
const (
	maxPending = 32 << 10 // bytes of text that were read and not yet drawn
	maxTokens  = 1024
	maxReplies = 4096 // bytes; what is not fetched in time is lost
	maxTitle   = 256  // bytes
)

// Screen is one terminal's screen. It is safe for concurrent use.
type Screen struct {
	mu      sync.Mutex
	term    vt10x.Terminal
	scan    scanner
	text    []byte  // of the tokens
	tokens  []token // read, not yet drawn: most of it scrolls off before anyone looks
	out     []byte  // scratch: what goes to term next
	replies []byte
	marks   clusters
	size    struct{ cols, rows int }
	view    view
	last    rune // printed last, for REP; 0: none
}

// view is what the library does not keep, or not as we need it.
type view struct {
	modes       Modes
	title       string
	hidden      bool    // the cursor
	insert      bool    // IRM
	top, bottom int     // of the scrolling region, from 0
	graphics    [2]bool // whether G0, G1 are the line-drawing set
	shifted     bool    // G1 is in use
	saved       struct {
		graphics [2]bool
		shifted  bool
	}
	main struct{ x, y int } // where the cursor was when the alternate screen was entered
}

// Modes are what decides which bytes a key or a paste is.
type Modes struct {
	Alternate      bool // the program uses the alternate screen, as full-screen programs do
	AppCursor      bool // cursor keys send ESC O A, not ESC [ A
	AppKeypad      bool
	BracketedPaste bool // pasted text is to be framed
}

// Snapshot is the screen at one moment.
type Snapshot struct {
	Modes
	Cols, Rows    int
	Lines         []string // one per row, without trailing blanks
	CursorX       int      // column, from 0; of a character two columns wide it may be the second
	CursorY       int      // row, from 0
	CursorVisible bool
	Title         string // as the program set it, printable text of at most 256 bytes
}

// Text returns the rows as one text without the empty ones at the end.
func (s Snapshot) Text() string { return strings.TrimRight(strings.Join(s.Lines, "\n"), "\n") }

// New returns an empty screen. Sizes out of range become the nearest that is in it.
func New(cols, rows int) *Screen {
	s := &Screen{}
	s.size.cols, s.size.rows = clamp(cols, 1, MaxSize), clamp(rows, 1, MaxSize)
	s.view.bottom = s.size.rows - 1
	s.term = vt10x.New(vt10x.WithSize(s.size.cols, s.size.rows))
	return s
}

// Write takes what the program wrote. It accepts everything and never fails; a sequence or a character may be cut
// anywhere.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const piece = maxPending / 2
	for rest := p; len(rest) > 0; {
		n := min(len(rest), piece)
		s.read(rest[:n])
		rest = rest[n:]
		if len(s.text) > maxPending || len(s.tokens) > maxTokens {
			s.draw()
		}
	}
	return len(p), nil
}

// Replies returns the answers to what the program asked since the last call, to be written to its terminal as if
// typed; nil when there is none.
func (s *Screen) Replies() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	replies := s.replies
	s.replies = nil
	return replies
}

// Modes returns the modes as of now.
func (s *Screen) Modes() Modes {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw()
	return s.view.modes
}

// Resize changes the size as a terminal's window would. Sizes out of range become the nearest that is in it.
func (s *Screen) Resize(cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw()
	cols, rows = clamp(cols, 1, MaxSize), clamp(rows, 1, MaxSize)
	before := s.size.cols
	s.size.cols, s.size.rows = cols, rows
	s.view.top, s.view.bottom = 0, rows-1
	s.term.Resize(cols, rows)
	if cols > before {
		s.tabStops(before)
	}
}

// Snapshot returns what is to be seen.
func (s *Screen) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw()
	at := s.term.Cursor()
	shot := Snapshot{
		Modes: s.view.modes, Cols: s.size.cols, Rows: s.size.rows, Lines: make([]string, s.size.rows),
		CursorX: at.X, CursorY: at.Y, CursorVisible: !s.view.hidden, Title: s.view.title,
	}
	for y := range shot.Lines {
		shot.Lines[y] = s.row(y)
	}
	return shot
}

// draw gives the library what was read since the last time.
func (s *Screen) draw() {
	var rest [4]byte
	kept := 0
	for i, t := range s.tokens {
		if t.kind != text {
			s.control(t)
			continue
		}
		part := s.text[t.start:t.end]
		if i == len(s.tokens)-1 {
			kept = copy(rest[:], part[len(part)-cutRune(part):])
			part = part[:len(part)-kept]
		}
		s.put(part)
	}
	s.tokens, s.text = s.tokens[:0], s.text[:0]
	if kept > 0 {
		s.addText(rest[:kept])
	}
}

func (s *Screen) reply(text string) {
	if len(s.replies)+len(text) <= maxReplies {
		s.replies = append(s.replies, text...)
	}
}

// feed writes to the library. It only fails for a character that is cut, which there is none of.
func (s *Screen) feed(sequence string) { _, _ = s.term.Write([]byte(sequence)) }

func clamp(n, low, high int) int { return max(low, min(n, high)) }

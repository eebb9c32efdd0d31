package screen

import "fmt"

// control does one sequence.
func (s *Screen) control(t token) {
	if t.kind != csi || t.final != 'b' {
		s.last = 0 // only what was written just now can be repeated
	}
	switch {
	case t.kind == query:
		s.answer(t)
	case t.kind == esc:
		s.escape(t)
	case t.inter == '!' && t.final == 'p': // DECSTR
		s.softReset()
	case t.inter != 0:
	case t.prefix == '?' && (t.final == 'h' || t.final == 'l'):
		s.privateMode(t.args[0], t.final == 'h')
	case t.prefix == 0:
		s.sequence(t)
	}
}

// escape does ESC with one more byte, or SO and SI.
func (s *Screen) escape(t token) {
	switch {
	case t.inter == '(' || t.inter == ')':
		s.view.graphics[t.inter-'('] = t.final == '0'
		s.charset()
	case t.inter == '#' && t.final == '8':
		s.feed("\x1b#8")
	case t.inter != 0:
	case t.final == 0x0e || t.final == 0x0f:
		s.view.shifted = t.final == 0x0e
		s.charset()
	case t.final == '=' || t.final == '>':
		s.view.modes.AppKeypad = t.final == '='
	case t.final == '7':
		s.saveCursor()
	case t.final == '8':
		s.restoreCursor()
	case t.final == 'c':
		s.reset()
	case t.final == 'Z':
		s.reply(attributes(0))
	case t.final == 'D' || t.final == 'E' || t.final == 'H' || t.final == 'M':
		s.feed("\x1b" + string(rune(t.final)))
	}
}

// charset tells the library, which has one set only, whether letters draw lines.
func (s *Screen) charset() {
	set := 0
	if s.view.shifted {
		set = 1
	}
	if s.view.graphics[set] {
		s.feed("\x1b(0")
	} else {
		s.feed("\x1b(B")
	}
}

func (s *Screen) saveCursor() {
	s.view.saved.graphics, s.view.saved.shifted = s.view.graphics, s.view.shifted
	s.feed("\x1b7")
}

func (s *Screen) restoreCursor() {
	s.view.graphics, s.view.shifted = s.view.saved.graphics, s.view.saved.shifted
	s.feed("\x1b8")
	s.charset()
}

// reset is RIS: everything but the size and the title.
func (s *Screen) reset() {
	s.alternate(false)
	s.view = view{title: s.view.title, bottom: s.size.rows - 1}
	s.last = 0
	s.feed("\x1bc")
}

func (s *Screen) softReset() {
	s.view.insert, s.view.hidden = false, false
	s.view.modes.AppCursor, s.view.modes.AppKeypad = false, false
	s.view.graphics, s.view.shifted = [2]bool{}, false
	at := s.term.Cursor()
	s.region(0, s.size.rows-1)
	s.feed("\x1b[?6l\x1b[?7h\x1b[20l")
	s.moveTo(at.X, at.Y)
	s.charset()
}

// moveTo puts the cursor at a place of the screen, in origin mode too.
func (s *Screen) moveTo(x, y int) {
	if s.origin() {
		y -= s.view.top
	}
	s.feed(fmt.Sprintf("\x1b[%d;%dH", y+1, x+1))
}

// Bits of the library's cursor state.
const (
	stateWrapNext = 2
	stateOrigin   = 4
)

func (s *Screen) origin() bool { return s.term.Cursor().State&stateOrigin != 0 }

// region sets the scrolling region; the cursor goes home.
func (s *Screen) region(top, bottom int) {
	s.view.top, s.view.bottom = top, bottom
	s.feed(fmt.Sprintf("\x1b[%d;%dr", top+1, bottom+1))
}

// privateMode sets or resets a DEC private mode.
func (s *Screen) privateMode(mode int, on bool) {
	end := 'l'
	if on {
		end = 'h'
	}
	switch mode {
	case 1:
		s.view.modes.AppCursor = on
	case 6, 7:
		s.feed(fmt.Sprintf("\x1b[?%d%c", mode, end))
	case 25:
		s.view.hidden = !on
	case 66:
		s.view.modes.AppKeypad = on
	case 2004:
		s.view.modes.BracketedPaste = on
	case 47, 1047:
		s.alternate(on)
	case 1048:
		if on {
			s.saveCursor()
		} else {
			s.restoreCursor()
		}
	case 1049:
		s.alternateSaved(on)
	}
}

// alternate changes between the two screens. The library clears the alternate one when it is left.
func (s *Screen) alternate(on bool) {
	if s.view.modes.Alternate == on {
		return
	}
	s.view.modes.Alternate = on
	if on {
		s.feed("\x1b[?47h")
	} else {
		s.feed("\x1b[?47l")
	}
}

// alternateSaved is alternate for programs that want their cursor back. What is saved meanwhile by ESC 7 is another matter.
func (s *Screen) alternateSaved(on bool) {
	if s.view.modes.Alternate == on {
		return
	}
	at := s.term.Cursor()
	if on {
		s.view.main.x, s.view.main.y = at.X, at.Y
	}
	s.alternate(on)
	if !on {
		s.moveTo(s.view.main.x, s.view.main.y)
	}
}

// sequence does a control sequence without prefix.
func (s *Screen) sequence(t token) {
	count := max(t.args[0], 1)
	switch t.final {
	case 'A', 'B', 'E', 'F':
		s.vertical(t.final, count)
	case 'C', 'D', 'G', '`', 'a', 'd', 'e', 'I', 'Z':
		s.number(min(count, MaxSize), t.final)
	case '@', 'P', 'X', 'S', 'T':
		s.number(min(count, max(s.size.cols, s.size.rows)), t.final)
	case 'L', 'M':
		if y := s.term.Cursor().Y; y >= s.view.top && y <= s.view.bottom {
			s.number(min(count, s.size.rows), t.final)
			s.feed("\r")
		}
	case 'H', 'f':
		s.feed(fmt.Sprintf("\x1b[%d;%dH", clamp(t.args[0], 1, MaxSize), clamp(t.args[1], 1, MaxSize)))
	case 'J', 'K':
		s.erase(t.final, t.args[0])
	case 'b':
		s.repeat(min(count, s.size.cols)) // programs use it within a row
	case 'g':
		s.number(t.args[0], 'g')
	case 'h', 'l':
		switch t.args[0] {
		case 4:
			s.view.insert = t.final == 'h'
		case 20:
			s.number(20, t.final)
		}
	case 'r':
		bottom := t.args[1]
		if bottom == 0 {
			bottom = s.size.rows
		}
		if bottom = min(bottom, s.size.rows); count < bottom || s.size.rows == 1 {
			s.region(min(count, bottom)-1, bottom-1)
		}
	case 's':
		s.saveCursor()
	case 'u':
		s.restoreCursor()
	}
}

func (s *Screen) number(n int, final byte) { s.feed(fmt.Sprintf("\x1b[%d%c", n, final)) }

// vertical moves the cursor by rows; within the scrolling region it stays there.
func (s *Screen) vertical(final byte, n int) {
	y, way := s.term.Cursor().Y, byte('B')
	if final == 'A' || final == 'F' {
		way = 'A'
		low := 0
		if y >= s.view.top {
			low = s.view.top
		}
		n = min(n, y-low)
	} else {
		high := s.size.rows - 1
		if y <= s.view.bottom {
			high = s.view.bottom
		}
		n = min(n, high-y)
	}
	if final == 'E' || final == 'F' {
		s.feed("\r")
	}
	if n > 0 {
		s.number(n, way)
	}
}

// erase clears part of the screen or of the row: what follows the cursor, what precedes it, or all.
func (s *Screen) erase(final byte, what int) {
	if what > 2 {
		return
	}
	s.number(what, final)
	// The library forgets the first row when the cursor is in the second.
	if final == 'J' && what == 1 && s.term.Cursor().Y == 1 {
		at := s.term.Cursor()
		origin := s.origin()
		if origin {
			s.feed("\x1b[?6l")
		}
		s.feed("\x1b[1;1H\x1b[2K")
		if origin {
			s.feed("\x1b[?6h")
		}
		s.moveTo(at.X, at.Y)
	}
}

// tabStops sets the stops of columns that the screen did not have before.
func (s *Screen) tabStops(from int) {
	at := s.term.Cursor()
	for x := (from + 7) &^ 7; x < s.size.cols; x += 8 {
		s.feed(fmt.Sprintf("\x1b[%dG\x1bH", x+1))
	}
	s.moveTo(at.X, at.Y)
}

package screen

import "fmt"

// asks reports whether a control sequence is a question that has an answer.
func asks(t token) bool {
	switch {
	case t.inter == '$' && t.final == 'p':
		return t.prefix == 0 || t.prefix == '?'
	case t.inter != 0:
		return false
	case t.final == 'c':
		return t.args[0] == 0
	case t.final == 'n':
		return t.prefix == 0 && t.args[0] == 5 || (t.prefix == 0 || t.prefix == '?') && t.args[0] == 6
	case t.final == 'q':
		return t.prefix == '>' && t.args[0] == 0
	case t.final == 't':
		return t.prefix == 0 && t.args[0] == 18
	}
	return false
}

// answer replies to one question.
func (s *Screen) answer(t token) {
	switch t.final {
	case 'c':
		s.reply(attributes(t.prefix))
	case 'n':
		s.reply(s.status(t))
	case 'p':
		s.reply(s.modeReport(t.prefix, t.args[0]))
	case 'q':
		s.reply("\x1bP>|maishell\x1b\\")
	case 't':
		s.reply(fmt.Sprintf("\x1b[8;%d;%dt", s.size.rows, s.size.cols))
	}
}

// attributes is what kind of terminal this is: a VT100 with everything added.
func attributes(prefix byte) string {
	switch prefix {
	case '>':
		return "\x1b[>0;10;0c"
	case '=':
		return "\x1bP!|00000000\x1b\\"
	case 0:
		return "\x1b[?1;2c"
	}
	return ""
}

// status is DSR: all is well, or where the cursor is.
func (s *Screen) status(t token) string {
	if t.args[0] == 5 {
		return "\x1b[0n"
	}
	at := s.term.Cursor()
	if s.origin() {
		at.Y -= s.view.top
	}
	if t.prefix == '?' {
		return fmt.Sprintf("\x1b[?%d;%d;1R", at.Y+1, at.X+1)
	}
	return fmt.Sprintf("\x1b[%d;%dR", at.Y+1, at.X+1)
}

// modeReport is DECRPM: 1 set, 2 reset, 0 not known.
func (s *Screen) modeReport(prefix byte, mode int) string {
	known := map[int]bool{4: s.view.insert}
	mark := ""
	if prefix == '?' {
		mark = "?"
		known = map[int]bool{
			1: s.view.modes.AppCursor, 6: s.origin(), 7: s.wraps(), 25: !s.view.hidden, 66: s.view.modes.AppKeypad,
			47: s.view.modes.Alternate, 1047: s.view.modes.Alternate, 1049: s.view.modes.Alternate,
			2004: s.view.modes.BracketedPaste,
		}
	}
	value := 0
	if on, ok := known[mode]; on {
		value = 1
	} else if ok {
		value = 2
	}
	return fmt.Sprintf("\x1b[%s%d;%d$y", mark, mode, value)
}

package lineedit

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many columns of a terminal a character takes when it is shown by visible.
func columns(r rune) int {
	switch {
	case r == '\n', r == '\t':
		return 1
	case r < ' ', r == 0x7f:
		return 2
	case r < 0x300, r >= rawByte && r <= rawByte+0xff:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// visible is how a character of the edited line is shown: the line ends of a paste as signs, so that it stays one line.
func visible(r rune) string {
	switch {
	case r == '\n':
		return "⏎"
	case r == '\t':
		return " "
	case r < ' ':
		return "^" + string(r+'@')
	case r == 0x7f:
		return "^?"
	case r >= rawByte && r <= rawByte+0xff:
		return "\uFFFD"
	}
	return string(r)
}

// tabStop is the distance of tab stops in printed text.
const tabStop = 8

// row is a line of the screen that is not full yet.
type row struct {
	text strings.Builder
	cols int
}

// wrap cuts text without newlines into rows of at most most columns, tabs as blanks. The last one may have room left.
func wrap(text string, most int) []string {
	var rows []string
	var at row
	for _, r := range text {
		cols, shown := columns(r), string(r)
		if r == '\t' {
			cols = tabStop - at.cols%tabStop
			shown = strings.Repeat(" ", cols)
		}
		if at.cols+cols > most && at.cols > 0 {
			rows = append(rows, at.text.String())
			at = row{}
		}
		at.text.WriteString(shown)
		at.cols += cols
	}
	return append(rows, at.text.String())
}

// clip shortens a text without newlines to most columns.
func clip(text string, most int) string {
	rows := wrap(text, most)
	if len(rows) == 1 {
		return text
	}
	return wrap(text, most-1)[0] + "…"
}

// lowest is what is drawn below the printed text: the text of the last printed line that has no end yet, the status, and
// the edited line.
type lowest struct {
	pending string
	status  []string
	prompt  string
	line    *buffer

	drawn  int // rows on the screen; 0: nothing is drawn
	cursor int // the row of them in which the cursor is
}

// maxRows is how many rows of a long line are shown at once, those around the cursor.
const maxRows = 6

// erase goes to the first column of the first row and clears everything from there.
func (l *lowest) erase(out *strings.Builder) {
	if l.drawn == 0 {
		return
	}
	up(out, l.cursor)
	out.WriteString("\r\x1b[J")
	l.drawn, l.cursor = 0, 0
}

// draw puts the rows on the screen, which has nothing there, and the cursor to its place.
func (l *lowest) draw(out *strings.Builder, cols int) {
	most := max(cols-1, 4) // the last column is left free: terminals differ in what happens behind it
	var rows []string
	if l.pending != "" {
		rows = append(rows, wrap(l.pending, most)...)
	}
	for _, s := range l.status {
		rows = append(rows, "\x1b[2m"+clip(s, most)+"\x1b[0m")
	}
	edited, cursorRow, cursorCol := l.edited(most)
	cursorRow += len(rows)
	rows = append(rows, edited...)
	out.WriteString(strings.Join(rows, "\r\n"))
	up(out, len(rows)-1-cursorRow)
	out.WriteByte('\r')
	if cursorCol > 0 {
		out.WriteString("\x1b[" + strconv.Itoa(cursorCol) + "C")
	}
	l.drawn, l.cursor = len(rows), cursorRow
}

// edited is the prompt and the line in rows, and where the cursor is in them.
func (l *lowest) edited(most int) (rows []string, cursorRow, cursorCol int) {
	var at row
	put := func(shown string, cols int) {
		if at.cols+cols > most && at.cols > 0 {
			rows = append(rows, at.text.String())
			at = row{}
		}
		at.text.WriteString(shown)
		at.cols += cols
	}
	for _, r := range l.prompt {
		put(string(r), columns(r))
	}
	for i, r := range l.line.text {
		cols := columns(r)
		if i == l.line.pos {
			if at.cols+cols > most {
				put("", most) // the cursor goes where the character goes
				at.cols = 0
			}
			cursorRow, cursorCol = len(rows), at.cols
		}
		put(visible(r), cols)
	}
	if l.line.pos == len(l.line.text) {
		if at.cols >= most {
			rows = append(rows, at.text.String())
			at = row{}
		}
		cursorRow, cursorCol = len(rows), at.cols
	}
	rows = append(rows, at.text.String())
	if len(rows) > maxRows {
		from := min(max(cursorRow-maxRows/2, 0), len(rows)-maxRows)
		rows, cursorRow = rows[from:from+maxRows], cursorRow-from
	}
	return rows, cursorRow, cursorCol
}

// up moves the cursor n rows up.
func up(out *strings.Builder, n int) {
	if n > 0 {
		out.WriteString("\x1b[" + strconv.Itoa(n) + "A")
	}
}

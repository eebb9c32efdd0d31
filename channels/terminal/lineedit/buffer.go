package lineedit

import (
	"slices"
	"unicode"
)

// buffer is the edited line.
type buffer struct {
	text   []rune
	pos    int    // of the cursor, 0 to len(text)
	killed []rune // what was cut last
}

// maxText is the longest line in characters.
const maxText = 1 << 20

func (b *buffer) set(text []rune) { b.text, b.pos = text, len(text) }

func (b *buffer) insert(text []rune) {
	if len(b.text)+len(text) > maxText {
		return
	}
	b.text = slices.Insert(b.text, b.pos, text...)
	b.pos += len(text)
}

// cut removes text[from:to].
func (b *buffer) cut(from, to int) []rune {
	gone := slices.Clone(b.text[from:to])
	b.text = slices.Delete(b.text, from, to)
	b.pos = from
	return gone
}

func (b *buffer) kill(from, to int) {
	if from < to {
		b.killed = b.cut(from, to)
	}
}

// edit applies a key that changes the line or moves in it. Keys of another kind do nothing.
func (b *buffer) edit(k key, text []rune) {
	switch k {
	case keyText:
		b.insert(text)
	case keyLeft:
		b.pos = b.left()
	case keyRight:
		b.pos = b.right()
	case keyWordLeft:
		b.pos = b.wordLeft()
	case keyWordRight:
		b.pos = b.wordRight()
	case keyHome:
		b.pos = 0
	case keyEnd:
		b.pos = len(b.text)
	case keyBackspace:
		b.cut(b.left(), b.pos)
	case keyDelete, keyEOF:
		b.cut(b.pos, b.right())
	case keyDeleteWordLeft:
		b.kill(b.wordLeft(), b.pos)
	case keyDeleteWordRight:
		b.kill(b.pos, b.wordRight())
	case keyDeleteToStart:
		b.kill(0, b.pos)
	case keyDeleteToEnd:
		b.kill(b.pos, len(b.text))
	case keyYank:
		b.insert(b.killed)
	case keyTranspose:
		b.transpose()
	}
}

// left is the place before the character before the cursor, with what modifies it.
func (b *buffer) left() int {
	i := b.pos
	for i > 0 {
		i--
		if columns(b.text[i]) > 0 {
			break
		}
	}
	return i
}

func (b *buffer) right() int {
	i := b.pos
	if i < len(b.text) {
		i++
	}
	for i < len(b.text) && columns(b.text[i]) == 0 {
		i++
	}
	return i
}

func (b *buffer) wordLeft() int {
	i := b.pos
	for i > 0 && !isWord(b.text[i-1]) {
		i--
	}
	for i > 0 && isWord(b.text[i-1]) {
		i--
	}
	return i
}

func (b *buffer) wordRight() int {
	i := b.pos
	for i < len(b.text) && !isWord(b.text[i]) {
		i++
	}
	for i < len(b.text) && isWord(b.text[i]) {
		i++
	}
	return i
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func (b *buffer) transpose() {
	at := min(b.pos, len(b.text)-1)
	if at < 1 {
		return
	}
	b.text[at-1], b.text[at] = b.text[at], b.text[at-1]
	b.pos = at + 1
}

package lineedit

import (
	"bufio"
	"bytes"
	"strings"
	"unicode/utf8"
)

// key is one key, or one paste.
type key int

const (
	keyNone key = iota // nothing that we know
	keyText            // characters to insert
	keyEnter
	keyLeft
	keyRight
	keyWordLeft
	keyWordRight
	keyHome
	keyEnd
	keyUp
	keyDown
	keyBackspace
	keyDelete
	keyDeleteWordLeft
	keyDeleteWordRight
	keyDeleteToStart
	keyDeleteToEnd
	keyTranspose
	keyYank
	keyClear
	keyInterrupt
	keyEOF // Ctrl-D: the end of input on an empty line, else as keyDelete
	keySuspend
)

// controls are the keys of Ctrl with a letter, as in every shell.
var controls = [...]key{
	1: keyHome, 2: keyLeft, 3: keyInterrupt, 4: keyEOF, 5: keyEnd, 6: keyRight, 8: keyBackspace, 10: keyEnter, 11: keyDeleteToEnd,
	12: keyClear, 13: keyEnter, 14: keyDown, 16: keyUp, 20: keyTranspose, 21: keyDeleteToStart, 23: keyDeleteWordLeft, 25: keyYank,
	26: keySuspend, 31: keyNone,
}

// rawByte stands for a byte that is no UTF-8: 0xDC00 plus the byte, which no text contains as a character.
const rawByte = 0xDC00

const (
	escape     = 0x1b
	maxEscape  = 64 // bytes of a sequence; more is not one
	maxPaste   = 1 << 20
	pasteEnd   = "\x1b[201~"
	pasteStart = "200~"
)

// readKey reads one key. text is what a keyText inserts.
func readKey(in *bufio.Reader) (k key, text []rune, err error) {
	b, err := in.ReadByte()
	switch {
	case err != nil:
		return keyNone, nil, err
	case b == escape:
		return readEscape(in)
	case b == 0x7f:
		return keyBackspace, nil, nil
	case b == '\t':
		return keyText, []rune{'\t'}, nil
	case b < ' ':
		return controls[b], nil, nil
	case b < utf8.RuneSelf:
		return keyText, []rune{rune(b)}, nil
	}
	_ = in.UnreadByte() // the last operation was a read
	r, size, err := in.ReadRune()
	if err != nil {
		return keyNone, nil, err
	}
	if r == utf8.RuneError && size == 1 {
		r = rawByte + rune(b)
	}
	return keyText, []rune{r}, nil
}

// readEscape reads what follows an escape. A lone one means nothing and waits for the next key.
func readEscape(in *bufio.Reader) (key, []rune, error) {
	b, err := in.ReadByte()
	if err != nil {
		return keyNone, nil, err
	}
	switch b {
	case '[':
		return readSequence(in)
	case 'O':
		b, err = in.ReadByte()
		return named(string(b)), nil, err
	case 'b', 'B':
		return keyWordLeft, nil, nil
	case 'f', 'F':
		return keyWordRight, nil, nil
	case 'd', 'D':
		return keyDeleteWordRight, nil, nil
	case 0x7f, 8:
		return keyDeleteWordLeft, nil, nil
	case escape:
		return keyNone, nil, in.UnreadByte()
	}
	return keyNone, nil, nil
}

// readSequence reads a control sequence up to its final byte.
func readSequence(in *bufio.Reader) (key, []rune, error) {
	var seq []byte
	for len(seq) < maxEscape {
		b, err := in.ReadByte()
		if err != nil {
			return keyNone, nil, err
		}
		seq = append(seq, b)
		if b >= 0x40 && b <= 0x7e {
			break
		}
	}
	if string(seq) == pasteStart {
		return readPaste(in)
	}
	return named(string(seq)), nil, nil
}

// named is the key of a sequence without its beginning: parameters and a final byte. Ctrl and Alt move by words.
func named(seq string) key {
	if seq == "" {
		return keyNone
	}
	final, params := seq[len(seq)-1], strings.Split(seq[:len(seq)-1], ";")
	word := len(params) == 2 && (params[1] == "3" || params[1] == "5")
	switch {
	case final == 'A':
		return keyUp
	case final == 'B':
		return keyDown
	case final == 'C' && word:
		return keyWordRight
	case final == 'D' && word:
		return keyWordLeft
	case final == 'C':
		return keyRight
	case final == 'D':
		return keyLeft
	case final == 'H', final == '~' && (params[0] == "1" || params[0] == "7"):
		return keyHome
	case final == 'F', final == '~' && (params[0] == "4" || params[0] == "8"):
		return keyEnd
	case final == '~' && params[0] == "3" && word:
		return keyDeleteWordRight
	case final == '~' && params[0] == "3":
		return keyDelete
	}
	return keyNone
}

// readPaste reads up to the mark that ends a paste. What goes beyond maxPaste is read and dropped.
func readPaste(in *bufio.Reader) (key, []rune, error) {
	var buf []byte
	for !bytes.HasSuffix(buf, []byte(pasteEnd)) {
		b, err := in.ReadByte()
		if err != nil {
			return keyNone, nil, err
		}
		if buf = append(buf, b); len(buf) > maxPaste+2*len(pasteEnd) {
			buf = append(buf[:maxPaste], buf[len(buf)-len(pasteEnd):]...)
		}
	}
	text := string(buf[:len(buf)-len(pasteEnd)])
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return keyText, runesOf(strings.TrimSuffix(text, "\n")), nil
}

// runesOf are the characters of a text, and its bytes that are none.
func runesOf(s string) []rune {
	out := make([]rune, 0, len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			r = rawByte + rune(s[0])
		}
		out, s = append(out, r), s[size:]
	}
	return out
}

// textOf is the reverse of runesOf.
func textOf(runes []rune) string {
	var b strings.Builder
	for _, r := range runes {
		if r >= rawByte && r <= rawByte+0xff {
			b.WriteByte(byte(r - rawByte))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

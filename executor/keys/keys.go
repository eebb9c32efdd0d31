package keys

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of one call.
const (
	MaxKeys  = 256
	MaxBytes = 64 << 10 // of a text, and of all bytes written in hex
)

// Modes are what the program has asked its terminal for.
type Modes struct {
	AppCursor bool // DECCKM: unmodified cursor keys, Home and End are ESC O A, not ESC [ A
}

// Parse returns what a terminal sends for the keys, one after another. A key is one of
//   - a character: "a", "A", "é", "?"
//   - a name, whatever its case: Enter, Tab, Escape, Space, BSpace, Up, Home, PageUp, Delete, F1 ... F20, and their usual
//     other names
//   - either of them with modifiers before it, as tmux writes them (C-c, M-x, S-Tab, C-S-Left) or in words (Ctrl+C,
//     alt-shift-f5); ^C is C-c
//   - "hex:" and an even number of hexadecimal digits: these bytes
//
// It returns an *Error that names the key when one of them is none, and no bytes.
func Parse(names []string, modes Modes) ([]byte, error) {
	if len(names) > MaxKeys {
		return nil, &Error{codeMany, []any{len(names), MaxKeys}}
	}
	var out []byte
	for _, name := range names {
		sent, err := parse(name, modes)
		if err != nil {
			return nil, err
		}
		if out = append(out, sent...); len(out) > MaxBytes {
			return nil, &Error{codeText, []any{len(out), MaxBytes}}
		}
	}
	return out, nil
}

// parse returns the bytes of one key.
func parse(name string, modes Modes) ([]byte, error) {
	if digits, ok := cutPrefixFold(name, "hex:"); ok {
		return parseHex(name, digits)
	}
	base, mods, err := split(name)
	if err != nil {
		return nil, err
	}
	if k, ok := find(base); ok {
		if sent := k.bytes(mods, modes); sent != nil {
			return sent, nil
		}
		return nil, &Error{codeModifier, []any{clip(name)}}
	}
	if r, n := utf8.DecodeRuneInString(base); n == len(base) && n > 0 && r != utf8.RuneError && unicode.IsPrint(r) {
		if sent := character(r, mods); sent != nil {
			return sent, nil
		}
		return nil, &Error{codeModifier, []any{clip(name)}}
	}
	return nil, &Error{codeUnknown, []any{clip(name), strings.Join(nearest(base), ", ")}}
}

func parseHex(name, digits string) ([]byte, error) {
	sent, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil || len(sent) == 0 {
		return nil, &Error{codeHex, []any{clip(name)}}
	}
	return sent, nil
}

// mods are bits as xterm numbers them, less one.
type mods int

const (
	shift mods = 1
	alt   mods = 2
	ctrl  mods = 4
)

// split takes the modifiers off a name.
func split(name string) (base string, m mods, err error) {
	rest := name
	for {
		if len(rest) > 1 && rest[0] == '^' && m&ctrl == 0 {
			rest, m = rest[1:], m|ctrl
			continue
		}
		word, after, bit := modifier(rest)
		if word == "" || after == "" {
			return rest, m, nil
		}
		if m&bit != 0 {
			return "", 0, &Error{codeModifier, []any{clip(name)}}
		}
		rest, m = after, m|bit
	}
}

// modifier returns the modifier that name begins with, what follows it, and its bit; "" if it begins with none.
func modifier(name string) (word, after string, bit mods) {
	at := strings.IndexAny(name, "-+")
	if at <= 0 {
		return "", "", 0
	}
	word, after = name[:at], name[at+1:]
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "c", "ctrl", "control", "ctl":
		bit = ctrl
	case "m", "a", "alt", "meta", "option":
		bit = alt
	case "s", "shift":
		bit = shift
	default:
		return "", "", 0
	}
	return word, strings.TrimLeft(after, " "), bit
}

// character returns what a character key sends with modifiers; nil if there is no such thing.
func character(r rune, m mods) []byte {
	if m&ctrl != 0 {
		b, ok := control(r)
		if !ok {
			return nil
		}
		return meta(m, []byte{b})
	}
	if m&shift != 0 {
		if !unicode.IsLetter(r) {
			return nil // what it is depends on the keyboard
		}
		r = unicode.ToUpper(r)
	}
	return meta(m, utf8.AppendRune(nil, r))
}

// control returns the control character of a key.
func control(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z':
		return byte(r) & 0x1f, true
	case r >= '@' && r <= '_':
		return byte(r) & 0x1f, true
	case r == ' ' || r == '2':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 0x1b, true
	case r == '/':
		return 0x1f, true
	case r == '?' || r == '8':
		return 0x7f, true
	}
	return 0, false
}

// meta puts the ESC before what a key sends that Alt stands for.
func meta(m mods, sent []byte) []byte {
	if m&alt != 0 {
		return append([]byte{0x1b}, sent...)
	}
	return sent
}

// bytes returns what the key sends; nil if it has no form with the modifiers.
func (k key) bytes(m mods, modes Modes) []byte {
	switch {
	case k.plain != "":
		return k.character(m)
	case k.final == 0:
		return nil
	case k.final != '~' && m != 0:
		return []byte("\x1b[1;" + strconv.Itoa(int(m)+1) + string(rune(k.final)))
	case k.final != '~' && (k.ss3 || modes.AppCursor):
		return []byte("\x1bO" + string(rune(k.final)))
	case k.final != '~':
		return []byte("\x1b[" + string(rune(k.final)))
	case m != 0:
		return []byte("\x1b[" + strconv.Itoa(k.number) + ";" + strconv.Itoa(int(m)+1) + "~")
	default:
		return []byte("\x1b[" + strconv.Itoa(k.number) + "~")
	}
}

// character is bytes for the keys that send a character.
func (k key) character(m mods) []byte {
	switch {
	case m&^alt == 0:
		return meta(m, []byte(k.plain))
	case m&^alt == shift && k.shifted != "":
		return meta(m, []byte(k.shifted))
	case m&^alt == ctrl && k.ctrled != "":
		return meta(m, []byte(k.ctrled))
	}
	return nil
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// clip bounds what an error repeats.
func clip(name string) string {
	const most = 40
	if len(name) <= most {
		return strings.ToValidUTF8(name, "�")
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

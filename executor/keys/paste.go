package keys

import (
	"bytes"
	"strings"
)

// What frames a bracketed paste.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Paste returns the bytes of a paste. When the program asked for it (bracketed), the text is framed, and neither end of a
// frame within the text is left; its lines end as they are, but CR LF is LF. Without a frame lines end with CR, as if Enter was
// pressed at each. A text longer than MaxBytes is an *Error.
func Paste(text string, bracketed bool) ([]byte, error) {
	if len(text) > MaxBytes {
		return nil, &Error{codeText, []any{len(text), MaxBytes}}
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !bracketed {
		return []byte(strings.ReplaceAll(text, "\n", "\r")), nil
	}
	return []byte(pasteBegin + unframed(text) + pasteEnd), nil
}

// unframed takes the ends of frames out of text, and those too that come together when others are gone. CSI as one
// character counts as ESC [.
func unframed(text string) string {
	var out []byte
	for i := range len(text) {
		out = append(out, text[i])
		if text[i] != '~' {
			continue
		}
		for _, frame := range []string{pasteBegin, pasteEnd, "\u009b200~", "\u009b201~"} {
			if before, ok := bytes.CutSuffix(out, []byte(frame)); ok {
				out = before
				break
			}
		}
	}
	return string(out)
}

// Text returns the bytes of a text as if typed: its lines end with CR, which is what Enter sends. A text longer than
// MaxBytes is an *Error.
func Text(text string) ([]byte, error) { return Paste(text, false) }

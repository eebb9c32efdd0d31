package redact

import (
	"bytes"
	"slices"
	"strings"
)

// acceptAssignment says whether the value of "name = value" is a secret rather than code, a prompt or prose. match
// runs from the name to the end of the value.
func acceptAssignment(match, value []byte) bool {
	v := string(value)
	c := count(v)
	if isReference(v) || isName(v) || slices.Contains(nothings, strings.ToLower(v)) || c.letters+c.digits == 0 && c.foreign > 0 {
		return false
	}
	before := match[:len(match)-len(value)]
	if bytes.HasSuffix(before, []byte(`"`)) || bytes.HasSuffix(before, []byte("'")) {
		return len(v) >= 4
	}
	isToken := strings.HasPrefix(strings.ToLower(string(before)), "token")
	if isCode(v) || isToken && c.digits == len(v) { // "max_token=4096"
		return false
	}
	if bytes.HasSuffix(before, []byte("=")) && !bytes.ContainsAny(before, " \t") {
		return len(v) >= 4
	}
	// "password: required" is prose, "password: hunter2" is not.
	mixed := c.letters > 0 && c.digits > 0 || c.letters > 0 && c.marks > 1 || c.digits == len(v)
	return len(v) >= 6 && mixed && c.foreign == 0 && !strings.ContainsRune("/.~", rune(v[0]))
}

// acceptKey says that a long segment is random rather than words: short ones hold a digit, long ones need not.
func acceptKey(_, value []byte) bool { return len(value) >= 20 || count(string(value)).digits > 0 }

// acceptAuthorization is the same for the value of an Authorization header.
func acceptAuthorization(match, value []byte) bool {
	v := string(value)
	if isReference(v) {
		return false
	}
	before := strings.Fields(strings.ToLower(string(match[:len(match)-len(value)])))
	if n := len(before); n > 1 && slices.Contains(schemes, strings.Trim(before[n-1], `:="'\`)) {
		return len(v) >= 4
	}
	return len(v) >= 16
}

// acceptBearer is for "bearer x" without a header's name: x must look like a token.
func acceptBearer(_, value []byte) bool {
	c := count(string(value))
	return len(value) >= 16 && c.letters > 0 && c.digits > 0
}

func acceptURLPassword(_, value []byte) bool { return !isReference(string(value)) }

// nothings are values that say that there is none.
var nothings = []string{
	"null", "none", "nil", "true", "false", "undefined", "string", "required", "optional", "empty", "unset", "redacted",
	"hidden", "changeme", "invalid", "missing",
}

var schemes = []string{"bearer", "basic", "token", "digest", "apikey"}

// isReference says that v stands for a value which is elsewhere ($VAR, ${VAR}, $(cmd), %s, %VAR%, <placeholder>, {x}, a
// URL), or is a mask already.
func isReference(v string) bool {
	switch v[0] {
	case '$':
		return strings.HasPrefix(v, "${") || strings.HasPrefix(v, "$(") || isIdentifier(v[1:])
	case '%':
		return len(v) <= 3 || v[1] == '(' || v[1] == '{' || v[len(v)-1] == '%'
	case '{':
		return v[len(v)-1] == '}'
	case '<':
		return v[len(v)-1] == '>'
	case '*':
		return strings.Trim(v, "*") == ""
	}
	return strings.Contains(v, "://")
}

// isName says that v is the name of such a thing, as in {"type": "password"}, access_token or accessToken.
func isName(v string) bool {
	for _, word := range []string{"password", "passwd", "token", "secret", "key"} {
		n := len(v) - len(word)
		if n < 0 || !strings.EqualFold(v[n:], word) || count(v[:n]).digits > 0 {
			continue
		}
		camel := n > 0 && isLetter(v[n-1]) && v[n-1] == lower(v[n-1]) && v[n] != lower(v[n])
		if n == 0 || camel || strings.ContainsRune("_-. ", rune(v[n-1])) {
			return true
		}
	}
	return false
}

// isCode says that v is the rest of a comparison, a call, an index or a path such as self.token or cfg.Secret2.
func isCode(v string) bool {
	if v[0] == '=' {
		return true
	}
	path := v
	called := false
	if i := strings.IndexAny(v, "(["); i > 0 {
		path, called = v[:i], true
	}
	parts := strings.Split(path, ".")
	for _, p := range parts {
		if !isIdentifier(p) {
			return false
		}
	}
	return called || len(parts) > 1
}

func isIdentifier(v string) bool {
	if v == "" || isDigit(v[0]) {
		return false
	}
	for i := range len(v) {
		if !isWord(v[i]) {
			return false
		}
	}
	return true
}

// counts is what a text consists of, in bytes.
type counts struct {
	letters, digits int
	marks           int // ASCII, but not what joins words: - _ .
	foreign         int // not ASCII
}

func count(v string) counts {
	var c counts
	for i := range len(v) {
		switch b := v[i]; {
		case isLetter(b):
			c.letters++
		case isDigit(b):
			c.digits++
		case b >= 0x80:
			c.foreign++
		case b != '-' && b != '_' && b != '.':
			c.marks++
		}
	}
	return c
}

//go:build unix

package app

import "mvdan.cc/sh/v3/syntax"

// quoteWord writes w so that a POSIX shell reads it as this one word.
func quoteWord(w string) (string, error) {
	q, err := syntax.Quote(w, syntax.LangPOSIX)
	if err != nil {
		return "", usageError{id: "app.cannot_quote", args: []any{w}}
	}
	return q, nil
}

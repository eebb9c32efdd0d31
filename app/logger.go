package app

import (
	"io"
	"log/slog"

	"github.com/maishell/maishell/redact"
)

// newLogger writes plain lines to w from the level on: debug, info, warn or error. Every line passes the secret filter.
func newLogger(w io.Writer, level string, secrets *redact.Set) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, usageError{id: "app.bad_log_level", args: []any{level}}
	}
	return slog.New(slog.NewTextHandler(filtered{w, secrets}, &slog.HandlerOptions{Level: l})), nil
}

// filtered is a writer behind the secret filter. A slog handler writes one whole line per call, so no secret is cut.
type filtered struct {
	w       io.Writer
	secrets *redact.Set
}

func (f filtered) Write(p []byte) (int, error) {
	if _, err := io.WriteString(f.w, f.secrets.String(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

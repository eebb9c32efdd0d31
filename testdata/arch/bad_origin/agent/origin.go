// Package agent makes up who is asking.
package agent

import (
	"context"

	who "github.com/maishell/maishell/session"
)

func pretend(ctx context.Context) context.Context {
	f := who.WithOrigin
	return f(ctx, who.Origin{Session: "s"})
}

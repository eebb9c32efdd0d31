// Package policy imports what stands above it.
package policy

import (
	_ "github.com/maishell/maishell/guard"
	_ "github.com/maishell/maishell/roles"
)

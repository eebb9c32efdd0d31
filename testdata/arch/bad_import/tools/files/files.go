// Package files shows that a row covers its sub-packages.
package files

import (
	_ "github.com/maishell/maishell/config"
	_ "github.com/maishell/maishell/texts"
	_ "github.com/maishell/maishell/tools"
)

package agent

import _ "github.com/maishell/maishell/store"

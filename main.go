// Command maishell lets a chat bot's admin have an agent run commands on real hosts, every action passing one
// guarded door.
package main

import (
	_ "embed"
	"os"

	"github.com/maishell/maishell/app"
)

//go:embed config.toml
var defaults []byte

func main() { os.Exit(app.Main(defaults)) }

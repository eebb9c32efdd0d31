package app

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/texts"
)

// version is the module's version as the Go tool stamped it: a tag, a pseudo-version, or (devel).
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func newVersion(sys system, say *texts.Catalog) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: say.Say("app.version_short"),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			goVersion := ""
			if info != nil {
				goVersion = info.GoVersion
			}
			if asJSON {
				return json.NewEncoder(sys.out).Encode(map[string]string{"version": version(), "go": goVersion})
			}
			_, err := fmt.Fprintf(sys.out, "maishell %s (%s)\n", version(), goVersion)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, say.Say("app.flag_json"))
	return c
}

package tools

import (
	"fmt"
	"os"
	"path/filepath"
)

// ExpandHome replaces a leading ~ that stands alone or before a separator by the home directory of the user who runs
// maishell. Anything else is given back unchanged.
func ExpandHome(path string) (string, error) {
	if path != "~" && (len(path) < 2 || path[0] != '~' || !os.IsPathSeparator(path[1])) {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("home directory: %w", err)
	}
	return filepath.Join(home, path[1:]), nil
}

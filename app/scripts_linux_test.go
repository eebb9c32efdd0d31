package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/maishell/maishell/config"
)

// TestScriptsDirThatMayNotBeMade has the default directory where not even root may make one, as it is beside a
// configuration that our account cannot write.
func TestScriptsDirThatMayNotBeMade(t *testing.T) {
	t.Parallel()
	s := &snapshot{config: &config.Config{}, scriptsDir: "/sys/maishell-scripts"}
	if err := s.makeScriptsDir(); err != nil || !s.noScripts {
		t.Errorf("%v, noScripts %v", err, s.noScripts)
	}
	if o, err := scriptOptions(s, nil); err != nil || o.Dir != "" {
		t.Errorf("scripts would be read from %q (%v)", o.Dir, err)
	}

	// What is configured must be there, and what cannot be looked at is not taken for missing.
	s = &snapshot{config: &config.Config{Scripts: config.Scripts{Dir: "/sys/maishell-scripts"}}, scriptsDir: "/sys/maishell-scripts"}
	if err := s.makeScriptsDir(); err != nil || s.noScripts {
		t.Errorf("configured: %v, noScripts %v", err, s.noScripts)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = &snapshot{config: &config.Config{}, scriptsDir: filepath.Join(file, "scripts")}
	if err := s.makeScriptsDir(); s.noScripts {
		t.Errorf("below a file: %v, noScripts %v", err, s.noScripts)
	}
}

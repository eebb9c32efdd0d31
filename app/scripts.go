package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/policy"
	"github.com/maishell/maishell/redact"
	"github.com/maishell/maishell/scripts"
)

// scriptsDir is where the Lua guards are: as configured, else beside the file in use.
func scriptsDir(cfg *config.Config, sys system) (string, error) {
	if cfg.Scripts.Dir != "" {
		return cfg.Scripts.Dir, nil
	}
	if files := cfg.Sources(); len(files) > 0 {
		return filepath.Join(filepath.Dir(files[0]), "scripts"), nil
	}
	dirs, err := config.UserDirs(sys.getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(dirs.Config, "scripts"), nil
}

// makeScriptsDir makes the default directory; one that was configured must exist. Beside a configuration that our account
// may not write, as it should be, there is none until its owner makes it.
func (s *snapshot) makeScriptsDir() error {
	if !s.scriptsMissing() {
		return nil
	}
	err := os.MkdirAll(s.scriptsDir, 0o700)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		s.noScripts = true
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the scripts directory (or set [scripts] dir): %w", err)
	}
	return nil
}

// scriptsMissing says that the default directory is not there. One that cannot be looked at may well be there.
func (s *snapshot) scriptsMissing() bool {
	_, err := os.Stat(s.scriptsDir)
	return s.config.Scripts.Dir == "" && errors.Is(err, fs.ErrNotExist)
}

// scriptOptions are those of the snapshot.
func scriptOptions(s *snapshot, dialect func(string) policy.Dialect) (scripts.Options, error) {
	c := s.config.Scripts
	dir := s.scriptsDir
	if s.noScripts {
		dir = ""
	}
	o := scripts.Options{
		Dir: dir, Enable: c.Enable, Required: c.Required, Timeout: time.Duration(c.TimeoutMS) * time.Millisecond,
		Dialect: dialect,
	}
	if zone := s.config.UI.Timezone; zone != "" {
		var err error
		if o.Location, err = time.LoadLocation(zone); err != nil {
			return o, fmt.Errorf("ui.timezone: %w", err)
		}
	}
	return o, nil
}

// addScripts loads the scripts of a snapshot and makes the secret filter with their masks. The first time the default
// directory is made; later a directory that is gone is an error, so that guards do not get lost with it.
func (rt *runtime) addScripts(s *snapshot) error {
	if old := rt.set.get(); old != s {
		s.noScripts = old.noScripts && s.scriptsMissing()
	} else if err := s.makeScriptsDir(); err != nil {
		return err
	}
	o, err := scriptOptions(s, rt.dialects.of)
	if err != nil {
		return err
	}
	o.KV, o.Logger, o.TrustShipped = rt.kv, rt.log, true
	if s.scripts, err = scripts.Load(o); err != nil {
		return err
	}
	s.secrets, err = redact.New(redact.Options{
		Literals: rt.literals, Patterns: append(redact.Builtin(), s.scripts.Masks()...),
	})
	return err
}

// scriptDifferences says which scripts came, went and changed, in words.
func (s *snapshot) scriptDifferences(old *snapshot) []string {
	if s.scripts == nil || old.scripts == nil {
		return nil
	}
	var lines []string
	is, was := s.scripts.Scripts(), old.scripts.Scripts()
	find := func(list []scripts.Info, name string) int {
		return slices.IndexFunc(list, func(i scripts.Info) bool { return i.Name == name })
	}
	for _, i := range was {
		if find(is, i.Name) < 0 {
			lines = append(lines, s.texts.Say("app.script_removed", i.Name))
		}
	}
	for _, i := range is {
		switch at := find(was, i.Name); {
		case at < 0:
			lines = append(lines, s.texts.Say("app.script_added", i.Name))
		case was[at].Hash != i.Hash:
			lines = append(lines, s.texts.Say("app.script_changed", i.Name))
		}
	}
	if len(lines) == 0 && s.scripts.Library() != old.scripts.Library() {
		lines = append(lines, s.texts.Say("app.script_library"))
	}
	return lines
}

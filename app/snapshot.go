package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/config/watch"
	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/redact"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/scripts"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
)

// snapshot is every setting that a call sees, complete and never changed once built.
type snapshot struct {
	config       *config.Config
	texts        *texts.Catalog
	resolver     *roles.Resolver
	own          *guard.OwnFiles
	storeDir     string
	workspace    string
	commandDir   string
	commandEnv   []string // what the settings add to the environment of commands
	home         string   // what ~ stands for in a command
	binary       []string // names that this program is started by
	approvalWait time.Duration
	scriptsDir   string
	noScripts    bool         // the default scriptsDir is not there and may not be made by us
	scripts      *scripts.Set // added by runtime.addScripts, with secrets: they need what runs
	secrets      *redact.Set  // the filter, with the scripts' masks
}

// snapshotHolder is the one pointer that is swapped.
type snapshotHolder struct {
	p     atomic.Pointer[snapshot]
	local roles.Caller // who started this process
}

func (h *snapshotHolder) get() *snapshot   { return h.p.Load() }
func (h *snapshotHolder) swap(s *snapshot) { h.p.Store(s) }

// resolve is who the caller is now.
func (h *snapshotHolder) resolve(c roles.Caller) roles.Resolution { return h.get().resolver.Resolve(c) }

// role is what the origin may do now: its caller's role under its ceiling, and never more than the person has who started
// this process where it speaks for that person (--as shows another's view, it lends nobody's rights).
func (h *snapshotHolder) role(o session.Origin) roles.Role {
	resolve := func(c roles.Caller) roles.Role { return h.resolve(c).Role }
	role := session.Effective(o, resolve)
	if o.Caller == h.local || o.Channel != channelTerminal && o.Channel != channelExec {
		return role
	}
	return roles.Min(role, resolve(h.local))
}

// newSnapshot builds a snapshot of cfg. What cannot change while we run is taken over from old, the snapshot in force;
// nil: there is none yet.
func newSnapshot(cfg *config.Config, sys system, old *snapshot) (*snapshot, error) {
	s := &snapshot{config: cfg, approvalWait: time.Duration(cfg.Approval.WaitSeconds) * time.Second}
	// Each part may use what those before it made. One that fails leaves the old snapshot in force as a whole.
	for _, part := range []func(system, *snapshot) error{s.addTexts, s.addRoles, s.addFixed, s.addPlaces, s.addOwnFiles} {
		if err := part(sys, old); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *snapshot) addTexts(sys system, old *snapshot) (err error) {
	lang := s.config.UI.Language
	if lang == "auto" {
		lang = texts.Detect(sys.getenv)
	}
	s.texts = sys.say
	if old != nil {
		s.texts = old.texts
	}
	if s.texts == nil || s.texts.Lang() != lang {
		s.texts, err = texts.New(lang)
	}
	return err
}

func (s *snapshot) addRoles(system, *snapshot) (err error) {
	s.resolver, err = newResolver(s.config)
	return err
}

// addFixed takes what an open database and running tools rest on: the settings whose change waits for a restart.
func (s *snapshot) addFixed(sys system, old *snapshot) error {
	if old != nil {
		s.storeDir, s.workspace = old.storeDir, old.workspace
		return nil
	}
	dirs, err := config.UserDirs(sys.getenv)
	if err != nil {
		return err
	}
	if s.storeDir, err = storeDir(s.config, sys); err != nil {
		return err
	}
	s.workspace = orDefault(s.config.Files.Workspace, filepath.Join(dirs.Data, "files"))
	return nil
}

func (s *snapshot) addPlaces(sys system, _ *snapshot) (err error) {
	if s.commandDir, err = os.Getwd(); err != nil {
		s.commandDir = s.workspace // the directory we were started in is gone
	}
	s.commandDir = orDefault(s.config.Shell.Cwd, s.commandDir)
	s.commandEnv = append(allowedOf(sys.env, s.config.Shell.EnvAllow), s.config.Shell.Env...)
	s.home = sys.getenv("HOME")
	s.scriptsDir, err = scriptsDir(s.config, sys)
	return err
}

// allowedOf are the variables of env that a name, or a beginning with a * at its end, allows; none of maishell's own settings.
func allowedOf(env, names []string) []string {
	var out []string
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || strings.HasPrefix(executor.EnvKey(name), "MAISHELL") {
			continue
		}
		if slices.ContainsFunc(names, func(allowed string) bool {
			begin, many := strings.CutSuffix(allowed, "*")
			begin, key := executor.EnvKey(begin), executor.EnvKey(name)
			return key == begin || many && strings.HasPrefix(key, begin)
		}) {
			out = append(out, kv)
		}
	}
	return out
}

func (s *snapshot) addOwnFiles(system, *snapshot) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find our own program file: %w", err)
	}
	s.binary = []string{"maishell", strings.TrimSuffix(filepath.Base(self), ".exe")}
	files := append(s.config.Candidates(), self)
	if key := s.config.LLM.APIKeyFile; key != "" {
		files = append(files, key)
	}
	s.own = guard.NewOwnFiles(files, []string{s.storeDir, s.scriptsDir})
	return nil
}

// watched are the files and directories from which a snapshot is made.
func (s *snapshot) watched() ([]string, []watch.Dir) {
	return s.config.Candidates(), []watch.Dir{
		{Path: s.scriptsDir, Glob: "*.lua"}, {Path: filepath.Join(s.scriptsDir, "lib"), Glob: "*.lua"},
	}
}

// makeWorkspace makes the folder of the file tools, unless it would lie among our own files or around them.
func (s *snapshot) makeWorkspace() error {
	if err := s.own.CheckWorkspace(s.workspace); err != nil {
		return err
	}
	if err := os.MkdirAll(s.workspace, 0o700); err != nil {
		return usageError{id: "app.workspace_failed", args: []any{s.workspace, err}}
	}
	return nil
}

// storeDir is where database, spools and sockets live.
func storeDir(cfg *config.Config, sys system) (string, error) {
	if cfg.Store.Dir != "" {
		return cfg.Store.Dir, nil
	}
	dirs, err := config.UserDirs(sys.getenv)
	if err != nil {
		return "", err
	}
	return dirs.State, nil
}

func newResolver(cfg *config.Config) (*roles.Resolver, error) {
	local, err := roles.Parse(cfg.Permission.LocalRole)
	if err != nil {
		return nil, err
	}
	return roles.NewResolver(roles.Lists{
		Admins:            cfg.Permission.Admins,
		AdminGroups:       cfg.Permission.AdminGroups,
		Users:             cfg.Permission.Users,
		UserGroups:        cfg.Permission.UserGroups,
		AdminInGroupChats: cfg.Permission.AdminInGroupChats,
		LocalRole:         local,
	})
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

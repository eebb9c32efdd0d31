package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/redact"
	"github.com/maishell/maishell/scripts"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/store"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
	"github.com/maishell/maishell/tools/files"
	"github.com/maishell/maishell/tools/meta"
	"github.com/maishell/maishell/tools/shell"
	toolsystem "github.com/maishell/maishell/tools/system"
)

// runtime is one running maishell: everything behind the door, wired.
type runtime struct {
	set      *snapshotHolder
	log      *slog.Logger
	secrets  *redact.Set
	store    *store.Store
	instance string
	exec     *executor.Executor
	registry *tools.Registry
	run      tools.Tool // run_command, offered or not
	reload   *reloader
	model    *liveModel
	children []tools.Tool // ask_subagent and ask_subagents, offered or not
	dialects *dialects
	literals []string    // values that the secret filter hides
	kv       *scripts.KV // what scripts keep, across reloads
	started  time.Time
}

// start builds the runtime. kind names the entrance in the instance list; approver may be nil: nobody can answer.
func start(ctx context.Context, sys system, opts *options, kind string, approver guard.Approver) (rt *runtime, err error) {
	cfg, err := loadConfig(sys, opts)
	if err != nil {
		return nil, err
	}
	rt = &runtime{started: time.Now(), kv: scripts.NewKV()}
	defer func() {
		if err != nil {
			err = errors.Join(err, rt.close())
			rt = nil
		}
	}()
	key, err := modelKey(cfg, sys)
	if err != nil {
		return rt, err
	}
	rt.literals = secretsOf(key)
	if rt.secrets, err = redact.New(redact.Options{Literals: rt.literals}); err != nil {
		return rt, err
	}
	if rt.log, err = newLogger(sys.err, opts.logLevel, rt.secrets); err != nil {
		return rt, err
	}
	snap, err := newSnapshot(cfg, sys, nil)
	if err != nil {
		return rt, err
	}
	rt.set = &snapshotHolder{local: localCaller()}
	rt.set.swap(snap)
	rt.reload = newReloader(rt, sys, opts)
	rt.log.Info("configuration", "files", cfg.Sources())
	if rt.store, err = store.Open(ctx, store.Options{Dir: snap.storeDir, Logger: rt.log}); err != nil {
		return rt, err
	}
	if rt.instance, err = rt.store.Begin(ctx, kind); err != nil {
		return rt, err
	}
	if err = rt.prepare(sys, snap); err != nil {
		return rt, err
	}
	rt.model = newLiveModel(rt, key)
	rt.log.Info("executor", "kill_method", rt.exec.Capabilities().KillMethod)
	return rt, rt.wire(snap, approver)
}

// prepare makes what runs commands and the scripts that guard them.
func (rt *runtime) prepare(sys system, snap *snapshot) (err error) {
	rt.exec, err = executor.New(executor.Options{
		Env: sys.env, MaxRunning: snap.config.Shell.MaxRunning, Redact: rt.secrets, Logger: rt.log,
	})
	if err != nil {
		return err
	}
	rt.dialects = &dialects{exec: rt.exec}
	return rt.addScripts(snap)
}

// wire connects the door and puts the tools behind it.
func (rt *runtime) wire(snap *snapshot, approver guard.Approver) error {
	if err := snap.makeWorkspace(); err != nil {
		return err
	}
	own := ownFiles{rt.set}
	door, err := guard.New(guard.Options{
		Deciders:     []guard.Decider{own, commandFloor{rt.set, rt.dialects.of}},
		Hooks:        scripts.Current(func() *scripts.Set { return rt.set.get().scripts }),
		Approver:     approver,
		Sink:         rt.store,
		Role:         rt.set.role,
		Redact:       rt.secrets.String,
		Instance:     rt.instance,
		ApprovalWait: func() time.Duration { return rt.set.get().approvalWait },
		Logger:       rt.log,
	})
	if err != nil {
		return err
	}
	rt.registry = tools.NewRegistry(tools.Options{Guard: door, Role: rt.set.role, Texts: rt.texts, Logger: rt.log})
	return rt.addTools(own)
}

// addTools puts the built-in tools into the registry; run_command only as long as the shell is enabled.
func (rt *runtime) addTools(own files.OwnFiles) error {
	all, err := meta.New(meta.Options{Texts: rt.texts})
	if err != nil {
		return err
	}
	info, err := toolsystem.New(toolsystem.Options{Paths: rt.shownPaths, Texts: rt.texts})
	if err != nil {
		return err
	}
	inWorkspace, err := files.New(files.Options{
		Settings: rt.fileSettings, Own: own, Role: rt.set.role, Texts: rt.texts, Redact: rt.secrets.String,
	})
	if err != nil {
		return err
	}
	all = append(append(all, info), inWorkspace...)
	for _, t := range all {
		if err := rt.registry.Add(t); err != nil {
			return err
		}
	}
	rt.run, err = shell.New(shell.Options{
		Executor: rt.exec, Settings: rt.shellSettings, Role: rt.set.role, Texts: rt.texts, Redact: rt.secrets.String,
		DefaultShell: rt.exec.Capabilities().Shell, DefaultDir: func(session.Origin) string { return rt.set.get().commandDir },
	})
	if err != nil {
		return err
	}
	if rt.children, err = rt.subagents(); err != nil {
		return err
	}
	return rt.offer(rt.set.get())
}

// offer brings what is not asked at every call in line with a snapshot.
func (rt *runtime) offer(s *snapshot) error {
	rt.exec.SetMaxRunning(s.config.Shell.MaxRunning)
	rt.secrets.Replace(s.secrets)
	if err := rt.have(s.config.Shell.Enabled, rt.run); err != nil {
		return err
	}
	return rt.have(s.config.Subagent.Enabled, rt.children...)
}

// have puts tools into the registry or takes them out.
func (rt *runtime) have(wanted bool, all ...tools.Tool) error {
	for _, t := range all {
		if !wanted {
			rt.registry.Remove(t.Name)
		} else if err := rt.registry.Add(t); err != nil {
			return err
		}
	}
	return nil
}

// shownPaths are the places whose file systems get_system_info always reports.
func (rt *runtime) shownPaths() []string {
	s := rt.set.get()
	return []string{s.workspace, s.commandDir}
}

func (rt *runtime) texts() *texts.Catalog { return rt.set.get().texts }

func (rt *runtime) fileSettings() files.Settings {
	s := rt.set.get()
	return files.Settings{Workspace: s.workspace, AdminOpen: s.config.Files.AdminOpen, MaxReadBytes: s.config.Files.MaxReadBytes}
}

func (rt *runtime) shellSettings() shell.Settings {
	s := rt.set.get()
	c := s.config.Shell
	return shell.Settings{
		Enabled:        c.Enabled,
		Timeout:        seconds(c.TimeoutSeconds),
		MaxTimeout:     seconds(c.MaxTimeoutSeconds),
		MaxOutputChars: c.MaxOutputChars,
		Program:        c.Program,
		Cwd:            c.Cwd,
		KillGrace:      orNone(time.Duration(c.KillGraceMS) * time.Millisecond),
		CodePage:       c.CodePage,
		Env:            s.commandEnv,
	}
}

// close stops what runs and gives everything back. It is safe on a half-built runtime.
func (rt *runtime) close() error {
	var errs []error
	if rt.reload != nil {
		errs = append(errs, rt.reload.close())
	}
	if rt.exec != nil {
		errs = append(errs, rt.exec.Close())
	}
	if rt.model != nil {
		rt.model.close()
	}
	if rt.store != nil {
		errs = append(errs, rt.store.Close())
	}
	return errors.Join(errs...)
}

// noteDisguise records who really sits behind an origin that --as made.
func (rt *runtime) noteDisguise(ctx context.Context, o session.Origin) error {
	if o.Caller == rt.set.local {
		return nil
	}
	_, err := rt.store.Append(ctx, audit.Record{
		Kind: audit.Event, Instance: rt.instance, Caller: rt.set.local.Key(), Role: rt.set.role(o).String(),
		Session: o.Session, Channel: o.Channel, Detail: "acts as " + o.Caller.Key() + " " + o.Caller.GroupKey(),
	})
	return err
}

// orNone turns a configured zero into the negative duration that means "no time at all": a zero means the default.
func orNone(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func loadConfig(sys system, opts *options) (*config.Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // it is gone, and with it any ./config.toml
	}
	return config.Load(config.Options{Path: opts.config, Defaults: sys.defaults, Env: sys.env, Dir: dir})
}

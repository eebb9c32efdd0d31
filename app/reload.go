package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/maishell/maishell/agent/commands"
	"github.com/maishell/maishell/audit"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/config/watch"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
)

// maxNews bounds how many texts wait for the next admin to be told.
const maxNews = 10

// reloader replaces the snapshot in force by a new one, as a whole or not at all: when the files changed, and when an
// admin asks for it.
type reloader struct {
	rt      *runtime
	load    func() (*config.Config, error)
	build   func(cfg *config.Config, old *snapshot) (*snapshot, error)
	first   *config.Config // as we were started
	busy    chan struct{}  // holds a token while a reload is under way
	watcher *watch.Watcher // nil: nothing is watched
	stop    func()         // ends the reload that the watching goroutine has under way
	ended   chan struct{}  // closed when that goroutine is gone

	mu      sync.Mutex
	problem error    // why the files in place are not in force; nil: they are
	untold  []string // for the next admin who writes
}

func newReloader(rt *runtime, sys system, opts *options) *reloader {
	return &reloader{
		rt:   rt,
		load: func() (*config.Config, error) { return loadConfig(sys, opts) },
		build: func(cfg *config.Config, old *snapshot) (*snapshot, error) {
			s, err := newSnapshot(cfg, sys, old)
			if err == nil {
				err = rt.addScripts(s)
			}
			return s, err
		},
		first: rt.set.get().config,
		busy:  make(chan struct{}, 1),
		ended: make(chan struct{}),
	}
}

// watch reloads whenever the files change, until close or the end of ctx. It may be called once.
func (r *reloader) watch(ctx context.Context) error {
	files, dirs := r.rt.set.get().watched()
	w, err := watch.New(watch.Options{Files: files, Dirs: dirs, Logger: r.rt.log})
	if err != nil {
		return err
	}
	ctx, r.stop = context.WithCancel(ctx)
	r.watcher = w
	go func() {
		defer close(r.ended)
		r.noticed(ctx) // what changed since the snapshot in force was made
		for range w.Changes() {
			r.noticed(ctx)
		}
	}()
	return nil
}

// close ends the watching.
func (r *reloader) close() error {
	if r.watcher == nil {
		return nil
	}
	r.stop()
	err := r.watcher.Close()
	<-r.ended
	return err
}

// noticed reloads because files changed. The next admin who writes is told.
func (r *reloader) noticed(ctx context.Context) {
	before := r.standing()
	lines, err := r.reload(ctx, nil)
	if ctx.Err() != nil || err != nil && sameText(err, before) {
		return
	}
	say := r.rt.texts()
	switch {
	case err != nil:
		r.tell(say.Say("app.reload_failed", r.word(err)))
	case len(lines) > 0:
		r.tell(say.Say("app.reload_done", strings.Join(lines, "\n")))
	case before != nil:
		r.tell(say.Say("app.reload_mended"))
	}
}

// command is /reload.
func (r *reloader) command(ctx context.Context, o session.Origin) string {
	lines, err := r.reload(ctx, &o)
	say := r.rt.texts()
	switch {
	case err != nil:
		return say.Say("app.reload_failed", r.word(err))
	case len(lines) > 0:
		return say.Say("app.reload_done", strings.Join(lines, "\n"))
	}
	return say.Say("app.reload_same")
}

// reload builds a snapshot of the files as they are now and swaps it in. It returns what changed, in words; an error
// means that everything stayed as it was. by is the admin who asked for it; nil: the files changed by themselves.
func (r *reloader) reload(ctx context.Context, by *session.Origin) ([]string, error) {
	select {
	case r.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-r.busy }()
	old := r.rt.set.get()
	next, err := r.next(old)
	var lines []string
	if err == nil {
		for _, line := range next.differences(old) {
			lines = append(lines, r.rt.secrets.String(line))
		}
		err = r.record(ctx, by, lines)
	}
	if err != nil {
		if ctx.Err() != nil { // that says nothing about the files
			return nil, ctx.Err()
		}
		if !sameText(err, r.fail(err)) {
			r.rt.log.Error("configuration not reloaded, the old one stays in force", "err", r.word(err))
		}
		return nil, err
	}
	r.rt.set.swap(next)
	if err := r.rt.offer(next); err != nil {
		r.rt.log.Error("change the tools", "err", err)
	}
	was := r.fail(nil)
	if len(lines) > 0 || was != nil {
		r.rt.log.Info("configuration reloaded", "files", next.config.Sources(), "changes", lines)
	}
	if r.watcher != nil {
		if err := r.watcher.Follow(next.watched()); err != nil {
			r.rt.log.Error("watch the configuration", "err", err)
		}
	}
	return lines, nil
}

// next is a complete and valid snapshot of the files as they are now.
func (r *reloader) next(old *snapshot) (*snapshot, error) {
	cfg, err := r.load()
	if err != nil {
		return nil, err
	}
	for _, f := range old.config.Sources() {
		if err := stillThere(f, cfg); err != nil {
			return nil, err
		}
	}
	next, err := r.build(cfg, old)
	if err != nil {
		return nil, err
	}
	return next, next.own.CheckWorkspace(next.workspace)
}

// stillThere refuses to go on without a file in use: one that is gone, empty or not ours any more is more likely lost, or
// on its way, than meant to say that all defaults are wanted again, some of which allow more.
func stillThere(file string, cfg *config.Config) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (info.Size() == 0 || len(cfg.Sources()) == 0):
		return usageError{id: "app.reload_lost", args: []any{file}}
	}
	return err
}

// record writes the change down before it takes effect: no record, no effect.
func (r *reloader) record(ctx context.Context, by *session.Origin, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	rec := audit.Record{
		Kind: audit.Event, Status: "config_changed", Instance: r.rt.instance,
		Detail: strings.Join(lines, "; "),
	}
	if by != nil {
		rec.Caller, rec.Group, rec.Role = by.Caller.Key(), by.Caller.GroupKey(), r.rt.set.role(*by).String()
		rec.Session, rec.Channel = by.Session, by.Channel
	}
	_, err := r.rt.store.Append(ctx, rec)
	return err
}

// differences words what next changes, one setting a line.
func (s *snapshot) differences(old *snapshot) []string {
	var lines []string
	if is, was := s.config.Sources(), old.config.Sources(); !slices.Equal(is, was) {
		lines = append(lines, s.texts.Say("app.reload_files", strings.Join(is, ", ")))
	}
	for _, c := range s.config.Changes(old.config) {
		line := s.texts.Say("app.reload_change", c.Key, c.Old, c.New)
		switch {
		case c.Over != "":
			line += s.texts.Say("app.reload_covered", c.Over)
		case c.Restart:
			line += s.texts.Say("app.reload_restart")
		}
		lines = append(lines, line)
	}
	return append(lines, s.scriptDifferences(old)...)
}

// fail remembers the problem that stands now, nil for none, and returns the one before.
func (r *reloader) fail(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.problem
	r.problem = err
	return was
}

func (r *reloader) standing() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problem
}

// word is an error for people; a bad value that it quotes may be a secret.
func (r *reloader) word(err error) string { return r.rt.secrets.String(r.rt.texts().Error(err)) }

func sameText(a, b error) bool { return a != nil && b != nil && a.Error() == b.Error() }

func (r *reloader) tell(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.untold = append(r.untold, text)
	r.untold = r.untold[max(0, len(r.untold)-maxNews):]
}

// news are the texts that no admin was told yet.
func (r *reloader) news() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.untold
	r.untold = nil
	return out
}

// status are the lines of /status about what is not in force.
func (r *reloader) status() []commands.StatusLine {
	s := r.rt.set.get()
	var lines []commands.StatusLine
	if err := r.standing(); err != nil {
		lines = append(lines, commands.StatusLine{ID: "app.status_problem", Value: r.word(err)})
	}
	var waiting []string
	for _, c := range s.config.Changes(r.first) {
		if c.Restart && c.Over == "" {
			waiting = append(waiting, c.Key)
		}
	}
	if len(waiting) > 0 {
		lines = append(lines, commands.StatusLine{ID: "app.status_restart", Value: strings.Join(waiting, ", ")})
	}
	return lines
}

// announcing tells an admin who writes what became of the settings since anybody was told.
type announcing struct {
	channels.Handler

	news func() []string
	role func(session.Origin) roles.Role
}

func (a announcing) Handle(ctx context.Context, m channels.Message, out channels.Sink) error {
	if a.role(m.Origin).AtLeast(roles.Admin) {
		for _, text := range a.news() {
			if err := out.Notice(ctx, text); err != nil {
				return err
			}
		}
	}
	return a.Handler.Handle(ctx, m, out)
}

// Beside is the handler's: the news wait for a turn of their own.
func (a announcing) Beside(m channels.Message) bool {
	b, ok := a.Handler.(channels.Beside)
	return ok && b.Beside(m)
}

package app

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/agent"
	"github.com/maishell/maishell/agent/commands"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/channels/terminal"
	"github.com/maishell/maishell/channels/terminal/lineedit"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
)

func newChat(sys system, opts *options, say *texts.Catalog) *cobra.Command {
	var who identity
	var name string
	c := &cobra.Command{
		Use:   "chat",
		Short: say.Say("app.chat_short"),
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := refuseEmpty(c, "as", "group", "config", "session"); err != nil {
				return err
			}
			return chat(c.Context(), sys, opts, who, name)
		},
	}
	who.flags(c, say)
	c.Flags().StringVar(&name, "session", "", say.Say("app.flag_session"))
	return c
}

// chat serves the terminal. name is that of a conversation to be kept, and gone on with; empty: a fresh one that ends with
// the process.
// startIsOver is when what only the start needed (parsed texts, schemas, scripts' syntax trees) is given back to the system:
// a chat may sit idle for weeks.
const startIsOver = time.Second

func chat(ctx context.Context, sys system, opts *options, who identity, name string) (err error) {
	if err := refuseInside(sys); err != nil {
		return err
	}
	origin, err := who.origin(channelTerminal)
	if err != nil {
		return err
	}
	if name != "" {
		if origin.Session, err = namedSession(origin, name); err != nil {
			return err
		}
	}
	ctx, stop := untilStopped(ctx)
	defer stop()
	interrupts, stopInterrupts := interruptions()
	defer stopInterrupts()

	approver := &asker{}
	log := &switchedWriter{to: sys.err}
	rt, err := start(ctx, sys.withErr(log), opts, "chat", approver)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.close()) }()
	if err := rt.noteDisguise(ctx, origin); err != nil {
		return err
	}
	if name != "" {
		if err := rt.store.Claim(ctx, origin.Session); err != nil {
			return err
		}
	}
	trim := time.AfterFunc(startIsOver, debug.FreeOSMemory)
	defer trim.Stop()
	edit := sys.terminal && editable(sys.getenv("TERM"))
	term := terminal.New(terminal.Options{
		In: sys.in, Out: sys.out, Err: sys.err, Interactive: sys.terminal, Edit: edit, History: rt.typed(edit), Origin: origin, Texts: rt.texts, Interrupt: interrupts, Logger: rt.log,
	})
	log.swap(term.ErrWriter())
	defer log.swap(sys.err)
	approver.terminal, approver.set = term, rt.set
	handler, err := rt.agent(name != "")
	if err != nil {
		return err
	}
	if err := rt.reload.watch(ctx); err != nil {
		return err
	}
	err = term.Serve(ctx, announcing{handler, rt.reload.news, rt.set.role})
	switch {
	case errors.Is(err, terminal.ErrInterrupted), errors.Is(err, context.Canceled):
		return exitError{exitCancelled}
	}
	return err
}

// editable reports whether a terminal of this kind takes the sequences that an edited line needs.
func editable(kind string) bool { return kind != "dumb" && kind != "" || !needsTerm }

// historyName is the file of typed lines in the store's directory.
const historyName = "chat.history"

// typed is the history of lines typed in chats, without secrets; nil when nothing is edited.
func (rt *runtime) typed(edit bool) *lineedit.History {
	if !edit {
		return nil
	}
	h, err := lineedit.OpenHistory(filepath.Join(rt.set.get().storeDir, historyName), rt.secrets.String)
	if err != nil {
		rt.log.Warn("typed lines are kept for this chat only", "err", err)
	}
	return h
}

// switchedWriter writes to what it was switched to last.
type switchedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *switchedWriter) swap(to io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to
}

func (w *switchedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	to := w.to
	w.mu.Unlock()
	return to.Write(p)
}

// namedSession is the session that a name stands for; each person has names of their own.
func namedSession(o session.Origin, name string) (string, error) {
	who := o.Caller.Key()
	if o.Caller.GroupID != "" {
		who += "@" + o.Caller.GroupID
	}
	o.Session = who + "/" + name
	if o.Ceiling != roles.None {
		o.Session += "/" + o.Ceiling.String() // what was said with more rights is not shown to fewer
	}
	if err := o.Validate(); err != nil {
		return "", usageError{id: "app.bad_session", args: []any{name}}
	}
	return o.Session, nil
}

// agent builds the handler of chat texts: commands first, then the model. keep: conversations outlive the process.
func (rt *runtime) agent(keep bool) (channels.Handler, error) {
	var answering *agent.Agent
	table, err := commands.New(commands.Options{
		Tools: rt.registry, Texts: rt.texts, Resolve: rt.set.resolve, Role: rt.set.role,
		Status: func(o session.Origin) []commands.StatusLine { return append(rt.status(), turnStatus(answering, o)...) },
		Reload: rt.reload.command, Stop: func(o session.Origin) bool { return answering.Stop(o) },
	})
	if err != nil {
		return nil, err
	}
	var history agent.History
	if keep {
		history = rt.store
	}
	ask, err := agent.AskTool()
	if err != nil {
		return nil, err
	}
	if err := rt.registry.Add(ask); err != nil {
		return nil, err
	}
	answering, err = agent.New(agent.Options{
		Model: rt.model, Tools: rt.registry, Commands: table, Texts: rt.texts, Role: rt.set.role, Resolve: rt.set.resolve,
		Guests: func() string { return rt.set.get().config.Permission.Guests },
		Limits: rt.limits, History: history, Redact: rt.secrets, Logger: rt.log,
	})
	return answering, err
}

// turnStatus is the line of /status about the running turn of a conversation; none when there is none.
func turnStatus(a *agent.Agent, o session.Origin) []commands.StatusLine {
	p, ok := a.Running(o)
	if !ok {
		return nil
	}
	return []commands.StatusLine{{ID: "app.status_turn", Value: p.For.Round(time.Second).String(), More: []any{p.Round, p.Calls}}}
}

// load is how many commands run, and wait, in words.
func (rt *runtime) load() string {
	running, waiting := rt.exec.Load()
	if waiting > 0 {
		return rt.texts().Say("app.status_waiting", running, waiting)
	}
	return strconv.Itoa(running)
}

// status are the lines of /status and of the start log.
func (rt *runtime) status() []commands.StatusLine {
	s := rt.set.get()
	caps := rt.exec.Capabilities()
	lines := []commands.StatusLine{
		{ID: "app.status_version", Value: version()},
		{ID: "app.status_uptime", Value: time.Since(rt.started).Round(time.Second).String()},
		{ID: "app.status_model", Value: s.modelStatus()},
		{ID: "app.status_kill", Value: s.texts.Say("app.kill_" + caps.KillMethod)},
		{ID: "app.status_running", Value: rt.load()},
		{ID: "app.status_timeout", Value: seconds(s.config.Shell.TimeoutSeconds).String()},
	}
	for _, f := range s.config.Sources() {
		lines = append(lines, commands.StatusLine{ID: "app.status_config", Value: f})
	}
	return append(lines, rt.reload.status()...)
}

package agent

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/maishell/maishell/agent/commands"
	"github.com/maishell/maishell/agent/rounds"
	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/redact"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

// Limits bound a turn. A zero value is the default.
type Limits struct {
	Rounds         int           // model calls in one turn; 30
	ParallelTools  int           // tool calls of one round at once; 4
	ContextTokens  int           // of a conversation shown to the model; 50,000
	TurnsPerMinute int           // of one person who is no admin; 0: no limit
	ModelTimeout   time.Duration // of one model call; 240 s
	AskTimeout     time.Duration // that a person has to answer ask_user; 300 s
	// OneAtATime: what is said while a turn runs waits for its own turn, in place of joining the running one.
	OneAtATime bool
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		value *int
		def   int
	}{{&l.Rounds, 30}, {&l.ParallelTools, 4}, {&l.ContextTokens, 50_000}} {
		if *f.value < 1 {
			*f.value = f.def
		}
	}
	if l.ModelTimeout <= 0 {
		l.ModelTimeout = 240 * time.Second
	}
	if l.AskTimeout <= 0 {
		l.AskTimeout = 300 * time.Second
	}
	return l
}

// Options are what an agent works with. Model is required. Without Role nobody has a role and nobody is answered.
type Options struct {
	Model    llm.Model
	Tools    *tools.Registry // nil: no tools
	Commands *commands.Table // nil: no chat commands
	Texts    func() *texts.Catalog
	Role     func(session.Origin) roles.Role
	// Resolve says whether a listed admin is lowered in a group, which is told once per session; nil: never told.
	Resolve func(roles.Caller) roles.Resolution
	// Guests is what guests get: "ignore", "chat", anything else: help, one line without a model.
	Guests func() string
	Limits func() Limits // asked at every turn; nil: the defaults
	// History keeps conversations beyond the process; nil: they end with it.
	History History
	Redact  *redact.Set // hides secrets in what people are shown; nil: nothing is hidden
	Logger  *slog.Logger
}

// Agent answers messages. It implements channels.Handler and is safe for concurrent use.
type Agent struct {
	opts     Options
	prompts  map[string]string // by name and language
	sessions *sessions
	rate     *rate
}

// Outcome is how a turn ended.
type Outcome string

// The outcomes.
const (
	Finished  Outcome = "finished"
	Failed    Outcome = "failed"     // the model did, or says that it cannot do it
	MaxRounds Outcome = "max_rounds" // the model went on asking for tools
	Cancelled Outcome = "cancelled"
)

// New makes an agent.
func New(o Options) (*Agent, error) {
	if o.Model == nil {
		return nil, errors.New("agent: no model")
	}
	if o.Tools == nil {
		o.Tools = tools.NewRegistry(tools.Options{})
	}
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	if o.Role == nil {
		o.Role = func(session.Origin) roles.Role { return roles.None }
	}
	if o.Guests == nil {
		o.Guests = func() string { return "help" }
	}
	if o.Limits == nil {
		o.Limits = func() Limits { return Limits{} }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	prompts, err := loadPrompts()
	if err != nil {
		return nil, err
	}
	return &Agent{opts: o, prompts: prompts, sessions: newSessions(), rate: newRate()}, nil
}

// Handle answers one message: as a chat command, by the rule for guests, or with a turn. Its error is channels.ErrQuit or
// the sink's; whatever else goes wrong is told in the reply.
func (a *Agent) Handle(ctx context.Context, m channels.Message, out channels.Sink) error {
	if strings.TrimSpace(m.Text) == "" {
		return nil
	}
	role := a.opts.Role(m.Origin)
	guest := !role.AtLeast(roles.User)
	ignored := guest && (!role.AtLeast(roles.Guest) || a.opts.Guests() == "ignore")
	if !ignored {
		if err := a.tellLowered(ctx, m.Origin, out); err != nil {
			return err
		}
	}
	if a.opts.Commands != nil {
		if handled, err := a.command(ctx, m, out, ignored); handled || err != nil {
			return err
		}
	}
	switch {
	case ignored:
		return nil
	case guest && a.opts.Guests() != "chat":
		return out.Reply(ctx, a.say("agent.guest_help"))
	}
	if a.sessions.answer(m) {
		return nil
	}
	if ok, tell := a.rate.allow(personKey(m.Origin), a.opts.Limits().TurnsPerMinute, role.AtLeast(roles.Admin)); !ok {
		if tell {
			return out.Reply(ctx, a.say("agent.too_fast"))
		}
		return nil
	}
	_, err := a.turn(ctx, m, out)
	return err
}

// command has a chat command answered. What one did on the host becomes part of the conversation, so that the model knows
// what "what does that mean?" is about.
func (a *Agent) command(ctx context.Context, m channels.Message, out channels.Sink, quiet bool) (handled bool, err error) {
	if quiet || !a.opts.Commands.Acts(m.Text) {
		return a.opts.Commands.Handle(ctx, m, out, quiet)
	}
	heard := &hearing{Sink: out}
	handled, err = a.opts.Commands.Handle(ctx, m, heard, quiet)
	if handled && heard.reply != "" {
		conv := a.sessions.get(m.Origin.Session)
		defer a.sessions.release(conv)
		a.sessions.note(conv, exchange{
			{Role: "user", Content: strings.ToValidUTF8(m.Text, "\uFFFD")},
			{Role: "assistant", Content: rounds.Fence(clipRunes(heard.reply, maxNoted))},
		})
	}
	return handled, err
}

// hearing is a sink that also keeps the last reply.
type hearing struct {
	channels.Sink
	reply string
}

// Reply passes the text on.
func (h *hearing) Reply(ctx context.Context, text string) error {
	h.reply = text
	return h.Sink.Reply(ctx, text)
}

// Watch is that of the sink.
func (h *hearing) Watch(name string) (peek func(func() string), stop func()) {
	return channels.Watch(h.Sink, name)
}

// personKey is who asks, or the conversation where nobody has an identity.
func personKey(o session.Origin) string {
	if key := o.Caller.Key(); key != "" {
		return key
	}
	return "session:" + o.Session
}

// Stop cancels the running turn of the origin's conversation, if there is one that the origin may stop: its own, or any
// for an admin.
func (a *Agent) Stop(o session.Origin) bool {
	r := a.sessions.turnOf(o, a.opts.Role(o).AtLeast(roles.Admin))
	if r != nil {
		r.cancel()
	}
	return r != nil
}

// Progress is how far a running turn is.
type Progress struct {
	For   time.Duration // since it began
	Round int           // call of the model, from 1
	Calls int           // of tools, so far
}

// Running tells how far the running turn of the origin's conversation is, if there is one that the origin may stop.
func (a *Agent) Running(o session.Origin) (Progress, bool) {
	r := a.sessions.turnOf(o, a.opts.Role(o).AtLeast(roles.Admin))
	if r == nil {
		return Progress{}, false
	}
	return Progress{For: time.Since(r.begun), Round: r.round, Calls: r.calls}, true
}

// Beside tells whether a message may be handled while a turn of its conversation runs: the answer to an open question, a
// command that only looks or stops, and beside an open question every command. It implements channels.Beside.
func (a *Agent) Beside(m channels.Message) bool {
	switch asked := a.sessions.asked(m.Origin); {
	case a.isCommand(m.Text):
		return asked || a.opts.Commands.Beside(m.Text)
	default:
		return asked
	}
}

func (a *Agent) isCommand(text string) bool {
	return a.opts.Commands != nil && a.opts.Commands.Is(text)
}

// tellLowered tells a listed admin once per session that the group makes a user of him.
func (a *Agent) tellLowered(ctx context.Context, o session.Origin, out channels.Sink) error {
	if a.opts.Resolve == nil || !a.opts.Resolve(o.Caller).Lowered {
		return nil
	}
	s := a.sessions.get(o.Session)
	defer a.sessions.release(s)
	if !a.sessions.first(s, o.Caller.Key()) {
		return nil
	}
	return out.Reply(ctx, a.say("agent.lowered"))
}

func (a *Agent) say(id string, args ...any) string { return a.opts.Texts().Say(id, args...) }

package commands

import (
	"context"
	"fmt"
	"slices"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

// maxName bounds how much of an unknown command is compared and shown, in bytes.
const maxName = 64

// Options are what the table works with. The zero value is valid: nobody has a role then.
type Options struct {
	Tools   *tools.Registry
	Texts   func() *texts.Catalog               // nil: message ids
	Resolve func(roles.Caller) roles.Resolution // why a caller has the role; nil: not told
	Role    func(session.Origin) roles.Role     // the role now; nil: none
	Status  func(session.Origin) []StatusLine   // what /status shows; nil: nothing
	Stop    func(session.Origin) bool           // ends the running turn of a conversation; nil: there is none
	// Reload has the settings read again for an admin and words what came of it; nil: nothing happens, nothing is said.
	Reload func(context.Context, session.Origin) string
}

// StatusLine is one line of /status: a message id whose first value is Value, and whose others are More.
type StatusLine struct {
	ID    string
	Value string
	More  []any
}

// Command is one entry of the table.
type Command struct {
	Name    string     // without slash, lower case
	Aliases []string   // in other languages
	Usage   string     // message id of how it is typed
	About   string     // message id of what it does
	Role    roles.Role // least role; without meaning when Tool is set
	Channel string     // the only channel that has it; empty: all
	Beside  bool       // looks or stops only, so that it need not wait for a running turn
	// Tool is the tool that the command calls: the pipeline checks the role then, and records a refusal.
	Tool string
	// Run answers. channels.ErrQuit ends the conversation.
	Run func(ctx context.Context, c Call) error
}

// Call is one use of a command.
type Call struct {
	Origin session.Origin
	Role   roles.Role // of the caller, now
	Rest   string     // what follows the name and one separator, unchanged
	View   *tools.View
	Texts  *texts.Catalog
	Out    channels.Sink
}

// Table holds the commands. It is immutable and safe for concurrent use.
type Table struct {
	opts     Options
	commands []Command
	byName   map[string]*Command
}

// New makes the table of the built-in commands. An error is a mistake in that table.
func New(o Options) (*Table, error) {
	if o.Tools == nil {
		o.Tools = tools.NewRegistry(tools.Options{})
	}
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	if o.Role == nil {
		o.Role = func(session.Origin) roles.Role { return roles.None }
	}
	if o.Stop == nil {
		o.Stop = func(session.Origin) bool { return false }
	}
	if o.Status == nil {
		o.Status = func(session.Origin) []StatusLine { return nil }
	}
	if o.Reload == nil {
		o.Reload = func(context.Context, session.Origin) string { return "" }
	}
	t := &Table{opts: o, byName: map[string]*Command{}}
	t.commands = t.builtin()
	for i := range t.commands {
		c := &t.commands[i]
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if t.byName[name] != nil {
				return nil, fmt.Errorf("commands: %s is defined twice", name)
			}
			t.byName[name] = c
		}
	}
	return t, nil
}

// Is tells whether a text is a command, also one that does not exist.
func (t *Table) Is(text string) bool {
	_, ok := parse(text)
	return ok
}

// Beside tells whether a text is a command that need not wait for a running turn.
func (t *Table) Beside(text string) bool {
	in, ok := parse(text)
	c := t.byName[in.name]
	return ok && c != nil && c.Beside
}

// Acts tells whether a text is a command that calls a tool.
func (t *Table) Acts(text string) bool {
	in, ok := parse(text)
	c := t.byName[in.name]
	return ok && c != nil && c.Tool != ""
}

// Handle answers m when its text is a command. handled is false for every other text. With quiet, what the caller may
// not use and what does not exist gets no answer, but still counts as handled. An error is channels.ErrQuit or the
// sink's.
func (t *Table) Handle(ctx context.Context, m channels.Message, out channels.Sink, quiet bool) (handled bool, err error) {
	in, ok := parse(m.Text)
	if !ok || t.byName[in.name] == nil && startsWithPath(in.name) {
		return false, nil
	}
	call := Call{
		Origin: m.Origin, Role: t.opts.Role(m.Origin), Rest: in.rest,
		View: t.opts.Tools.View(m.Origin), Texts: t.opts.Texts(), Out: out,
	}
	c := t.byName[in.name]
	exists := c != nil && (c.Channel == "" || c.Channel == m.Origin.Channel)
	switch {
	case exists && call.mayUse(c), exists && c.Tool != "" && !quiet:
		return true, c.Run(ctx, call)
	case quiet:
		return true, nil
	case exists:
		return true, out.Reply(ctx, call.Texts.Say("commands.denied", c.Name, c.Role))
	}
	return true, out.Reply(ctx, t.unknown(call, in.name))
}

// mayUse tells whether the caller would get something from c. Commands that call a tool go with the tool.
func (c Call) mayUse(cmd *Command) bool {
	if cmd.Tool != "" {
		_, err := c.View.Find(cmd.Tool)
		return err == nil
	}
	return c.Role.AtLeast(cmd.Role)
}

// usable are the commands that the caller can use here.
func (t *Table) usable(call Call) []*Command {
	var out []*Command
	for i := range t.commands {
		c := &t.commands[i]
		if (c.Channel == "" || c.Channel == call.Origin.Channel) && call.mayUse(c) {
			out = append(out, c)
		}
	}
	return out
}

// unknown words the answer to a command that does not exist.
func (t *Table) unknown(call Call, name string) string {
	name = clip(name, maxName)
	var names []string
	for _, c := range t.usable(call) {
		names = slices.Concat(names, []string{c.Name}, c.Aliases)
	}
	if near := nearest(name, names); near != "" {
		return call.Texts.Say("commands.unknown_near", channels.RevealLine(name), near)
	}
	return call.Texts.Say("commands.unknown", channels.RevealLine(name))
}

package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
)

func (t *Table) builtin() []Command {
	return []Command{
		{Name: "help", Aliases: []string{"帮助"}, Usage: "commands.help_usage", About: "commands.help_about", Role: roles.Guest, Beside: true, Run: t.help},
		{Name: "whoami", Aliases: []string{"我是谁"}, Usage: "commands.whoami_usage", About: "commands.whoami_about", Role: roles.Guest, Beside: true, Run: t.whoami},
		{Name: "tools", Aliases: []string{"工具"}, Usage: "commands.tools_usage", About: "commands.tools_about", Role: roles.Guest, Beside: true, Run: listTools},
		{Name: "run", Aliases: []string{"运行"}, Usage: "commands.run_usage", About: "commands.run_about", Tool: "run_command", Run: run},
		{Name: "stop", Aliases: []string{"停止"}, Usage: "commands.stop_usage", About: "commands.stop_about", Role: roles.User, Beside: true, Run: t.stop},
		{Name: "status", Aliases: []string{"状态"}, Usage: "commands.status_usage", About: "commands.status_about", Role: roles.User, Beside: true, Run: t.status},
		{Name: "reload", Aliases: []string{"重载"}, Usage: "commands.reload_usage", About: "commands.reload_about", Role: roles.Admin, Run: t.reload},
		{Name: "quit", Aliases: []string{"exit", "退出"}, Usage: "commands.quit_usage", About: "commands.quit_about", Role: roles.Guest, Channel: "terminal",
			Run: func(context.Context, Call) error { return channels.ErrQuit }},
	}
}

func (t *Table) help(ctx context.Context, c Call) error {
	lines := []string{c.Texts.Say("commands.help_title")}
	for _, cmd := range t.usable(c) {
		lines = append(lines, "  "+c.Texts.Say("commands.help_line", c.Texts.Say(cmd.Usage), c.Texts.Say(cmd.About)))
	}
	return c.Out.Reply(ctx, strings.Join(lines, "\n"))
}

// whoami says who the caller is and why the role is what it is: what an admin needs to write into [permission].
func (t *Table) whoami(ctx context.Context, c Call) error {
	who := c.Origin.Caller
	key := who.Key()
	if key == "" {
		key = c.Texts.Say("commands.whoami_nobody")
	}
	lines := []string{c.Texts.Say("commands.whoami_you", channels.RevealLine(key))}
	if group := who.GroupKey(); group != "" {
		lines = append(lines, c.Texts.Say("commands.whoami_group", channels.RevealLine(group)))
	}
	lines = append(lines, c.Texts.Say("commands.whoami_role", c.Role))
	if t.opts.Resolve != nil {
		r := t.opts.Resolve(who)
		lines = append(lines, c.Texts.Say("commands.whoami_why", c.Texts.Say("commands.rule_"+r.Rule)))
		if c.Origin.Ceiling != roles.None && r.Role != c.Role {
			lines = append(lines, c.Texts.Say("commands.whoami_ceiling", c.Origin.Ceiling, r.Role))
		}
	}
	return c.Out.Reply(ctx, strings.Join(lines, "\n"))
}

func listTools(ctx context.Context, c Call) error {
	list := c.View.List()
	if len(list) == 0 {
		return c.Out.Reply(ctx, c.Texts.Say("commands.tools_none"))
	}
	lines := []string{c.Texts.Say("commands.tools_title", len(list))}
	for _, tool := range list {
		lines = append(lines, "  "+c.Texts.Say("commands.tools_line", tool.Name, tool.Summary(c.Texts.Lang())))
	}
	return c.Out.Reply(ctx, strings.Join(lines, "\n"))
}

func run(ctx context.Context, c Call) error {
	if strings.TrimSpace(c.Rest) == "" {
		return c.Out.Reply(ctx, c.Texts.Say("commands.run_empty"))
	}
	if !utf8.ValidString(c.Rest) {
		// JSON would silently replace what is not UTF-8, and another command would run.
		return c.Out.Reply(ctx, c.Texts.Say("commands.run_not_utf8"))
	}
	args, err := json.Marshal(struct {
		Command string `json:"command"`
	}{c.Rest})
	if err != nil {
		return fmt.Errorf("commands: arguments of run_command: %w", err)
	}
	peek, stop := channels.Watch(c.Out, c.Rest)
	result := c.View.Invoke(ctx, tools.Call{Origin: c.Origin, Name: "run_command", Args: args, Live: peek})
	stop()
	// What ran is told also when the turn was cancelled meanwhile.
	return c.Out.Reply(context.WithoutCancel(ctx), FormatRun(result, c.Texts))
}

func (t *Table) stop(ctx context.Context, c Call) error {
	if t.opts.Stop(c.Origin) {
		return c.Out.Reply(ctx, c.Texts.Say("commands.stopping"))
	}
	return c.Out.Reply(ctx, c.Texts.Say("commands.stop_nothing"))
}

func (t *Table) status(ctx context.Context, c Call) error {
	var lines []string
	for _, l := range t.opts.Status(c.Origin) {
		lines = append(lines, c.Texts.Say(l.ID, append([]any{l.Value}, l.More...)...))
	}
	return c.Out.Reply(ctx, strings.Join(lines, "\n"))
}

func (t *Table) reload(ctx context.Context, c Call) error {
	// What was swapped is told also when the turn was cancelled meanwhile.
	return c.Out.Reply(context.WithoutCancel(ctx), t.opts.Reload(ctx, c.Origin))
}

// clip cuts s after at most n bytes, between two characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

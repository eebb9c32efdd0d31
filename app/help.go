package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maishell/maishell/texts"
)

// speak makes the command line library say in our words, and the user's language, what it would say in its own: help,
// what is wrong with flags and arguments, and the commands help and completion.
func speak(root *cobra.Command, sys system, say *texts.Catalog) {
	root.PersistentFlags().BoolP("help", "h", false, say.Say("app.flag_help"))
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), helpText(say, c)) })
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := fmt.Fprint(c.OutOrStderr(), helpText(say, c))
		return err
	})
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newCompletion(sys, say))
	checkArgs(root)
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: say.Say("app.help_short"), Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{id: "app.unknown_command", args: []any{strings.Join(args, " "), root.CommandPath()}}
			}
			return about.Help()
		},
	})
}

// flagError words what the library found wrong with a flag.
func flagError(err error) usageError {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return usageError{id: "app.unknown_flag", args: []any{flagName(e.GetSpecifiedName(), e.GetSpecifiedShortnames())}}
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usageError{id: "app.flag_needs_value", args: []any{flagName(e.GetSpecifiedName(), e.GetSpecifiedShortnames())}}
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		id := "app.bad_number"
		if e.GetFlag().Value.Type() == "bool" {
			id = "app.bad_bool"
		}
		return usageError{id: id, args: []any{e.GetFlag().Name, e.GetValue()}}
	}
	return usageError{id: "app.bad_flag", args: []any{err}}
}

func flagName(name, shorts string) string {
	if shorts != "" {
		return "-" + shorts
	}
	return "--" + name
}

// checkArgs puts our words over what the commands' own checks of their arguments say.
func checkArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		checkArgs(sub)
	}
	check := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		_, ours := errors.AsType[usageError](err)
		_, said := errors.AsType[exitError](err)
		if err == nil || ours || said {
			return err
		}
		if !c.HasSubCommands() {
			return usageError{id: "app.bad_args", args: []any{c.UseLine()}}
		}
		c.SuggestionsMinimumDistance = 2
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return usageError{id: "app.unknown_command_near", args: []any{args[0], c.CommandPath(), near[0]}}
		}
		return usageError{id: "app.unknown_command", args: []any{args[0], c.CommandPath()}}
	}
}

func newCompletion(sys system, say *texts.Catalog) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion " + strings.Join(shells, "|"), Short: say.Say("app.completion_short"), Long: say.Say("app.completion_long"),
		Args: cobra.ExactArgs(1), ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(sys.out, true)
			case "zsh":
				return root.GenZshCompletion(sys.out)
			case "fish":
				return root.GenFishCompletion(sys.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(sys.out)
			}
			return usageError{id: "app.bad_choice", args: []any{"completion", args[0], strings.Join(shells, ", ")}}
		},
	}
}

// helpText is the help of a command.
func helpText(say *texts.Catalog, c *cobra.Command) string {
	var b strings.Builder
	about := c.Long
	if about == "" {
		about = c.Short
	}
	usage := c.UseLine()
	if c.HasAvailableSubCommands() {
		usage = c.CommandPath() + " COMMAND"
	}
	b.WriteString(about + "\n\n" + say.Say("app.help_usage") + "\n  " + usage + "\n")
	var rows [][2]string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	table(&b, say.Say("app.help_commands"), rows)
	table(&b, say.Say("app.help_flags"), flagRows(say, c.LocalFlags()))
	table(&b, say.Say("app.help_global"), flagRows(say, c.InheritedFlags()))
	if c.HasAvailableSubCommands() {
		b.WriteString("\n" + say.Say("app.help_more", c.CommandPath()) + "\n")
	}
	return b.String()
}

func flagRows(say *texts.Catalog, flags *pflag.FlagSet) [][2]string {
	var rows [][2]string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		usage := f.Usage
		if f.Value.Type() != "bool" {
			name += " VALUE"
			if f.DefValue != "" {
				usage += say.Say("app.help_default", f.DefValue)
			}
		}
		rows = append(rows, [2]string{name, usage})
	})
	return rows
}

// table writes rows of a name, which is ASCII, and what it is about.
func table(b *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	b.WriteString("\n" + title + "\n")
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s  %s\n", width, r[0], r[1])
	}
}

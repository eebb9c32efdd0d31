package app

import (
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
)

// identity are the flags that try another caller's view.
type identity struct {
	as    string
	group string
}

func (i *identity) flags(c *cobra.Command, say *texts.Catalog) {
	c.Flags().StringVar(&i.as, "as", "", say.Say("app.flag_as"))
	c.Flags().StringVar(&i.group, "group", "", say.Say("app.flag_group"))
}

// refuseEmpty refuses a flag that was given without a value, as `--as "$WHO"` with an unset variable does: taking it for
// "not given" would run the command as somebody, or somewhere, else.
func refuseEmpty(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := c.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return usageError{id: "app.empty_flag", args: []any{name}}
		}
	}
	return nil
}

// origin makes the one origin of this process: local:<os user>, or who --as names. A role name after --as only ever
// lowers: it is a ceiling over the local caller's own role.
func (i identity) origin(channel string) (session.Origin, error) {
	o := session.Origin{Session: session.NewID(), Channel: channel}
	role, err := roles.Parse(i.as)
	if err == nil {
		o.Ceiling = role
		i.as = ""
	}
	if i.as == "" {
		if i.group != "" {
			return o, usageError{id: "app.group_needs_as"}
		}
		o.Caller = localCaller()
		return o, nil
	}
	platform, id, ok := strings.Cut(i.as, ":")
	if !ok || platform == "" || id == "" || strings.ContainsAny(i.as, " \t\n") {
		return o, usageError{id: "app.bad_as", args: []any{i.as}}
	}
	o.Caller = roles.Caller{Platform: platform, UserID: id, GroupID: i.group}
	return o, nil
}

// The channels of local entrances: what they ask for is asked by whoever started the process.
const (
	channelTerminal = "terminal"
	channelExec     = "exec"
)

// localCaller is whoever started the process, as the operating system proves it.
func localCaller() roles.Caller {
	name := "uid" + strconv.Itoa(os.Getuid()) // for a user without a name, as containers have them
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return roles.Caller{Platform: roles.LocalPlatform, UserID: name, Name: name}
}

// refuseInside refuses what may not be started from inside a command that maishell itself runs (contract 11): such a
// command could otherwise speak with the local user's role. For one and the same system user this is best effort
// (docs/security.md).
func refuseInside(sys system) error {
	if executor.InsideRun(sys.env) {
		return usageError{id: "app.inside_run"}
	}
	return nil
}

package agent

import (
	"context"
	"embed"
	"errors"
	"strings"
	"time"

	"github.com/maishell/maishell/channels"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/tools"
)

//go:embed tools/*.md
var toolDocs embed.FS

// AskUser is the name of the tool that asks the person.
const AskUser = "ask_user"

type askArgs struct {
	Question string `json:"question" jsonschema:"what to ask, in the person's language; one question"`
}

type askBody struct {
	Answer string `json:"answer"`
}

// AskTool is ask_user. It works in turns of this package only: elsewhere nobody can be asked.
func AskTool() (tools.Tool, error) {
	return tools.DefineReading(tools.Tool{
		Name:        AskUser,
		Role:        roles.User,
		Visibility:  tools.Essential,
		Description: tools.Text(toolDocs, "tools/ask_user"),
	}, func(ctx context.Context, args askArgs) (tools.Result, error) {
		if strings.TrimSpace(args.Question) == "" {
			return tools.Result{}, tools.Invalid("agent.ask_empty")
		}
		t, ok := ctx.Value(turnKey{}).(*turn)
		if !ok {
			return tools.Result{}, cannotAsk(nil)
		}
		answer, err := t.askUser(ctx, args.Question)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Body: askBody{Answer: answer}}, nil
	})
}

func cannotAsk(err error) error {
	return &tools.Fault{Status: tools.StatusPermissionDenied, Code: "agent.ask_nobody", Err: err}
}

// askUser shows a question and waits for the person's next message that is no command. Questions of one conversation
// follow each other.
func (t *turn) askUser(ctx context.Context, text string) (string, error) {
	to, ok := t.out.(channels.Prompter)
	if !ok || t.in.Origin.Caller.Key() == "" {
		return "", cannotAsk(nil)
	}
	select {
	case t.conv.asks <- struct{}{}:
		defer func() { <-t.conv.asks }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	q := &question{origin: t.in.Origin, answer: make(chan string, 1)}
	t.agent.sessions.ask(t.conv, q) // before it is shown: whoever answers at sight is not missed
	defer t.agent.sessions.ask(t.conv, nil)
	if err := to.Prompt(ctx, t.agent.opts.Redact.String(text)); errors.Is(err, channels.ErrCannotAsk) {
		return "", cannotAsk(err)
	} else if err != nil {
		return "", err
	}
	timer := time.NewTimer(t.limits.AskTimeout)
	defer timer.Stop()
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-timer.C:
		return "", &tools.Fault{Status: tools.StatusTimeout, Code: "agent.ask_timeout", Args: []any{t.limits.AskTimeout}}
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

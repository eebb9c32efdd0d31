package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/maishell/maishell/channels"
)

// Ask shows q and takes the next line that is typed as the answer: yes, y or 是 (any case) is yes, anything else no.
// When nobody is at the terminal it returns channels.ErrCannotAsk at once and reads nothing; when the input ends before
// the answer that is no answer either, and the same error. Questions are asked one after another. Other errors: ctx's.
func (t *Terminal) Ask(ctx context.Context, q channels.Question) (bool, error) {
	if !t.interactive {
		return false, channels.ErrCannotAsk
	}
	select {
	case t.question <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-t.question }()
	t.in.open() // before it is shown: whoever answers at sight is not missed
	defer t.in.shut()
	t.show(t.worded(q))
	l, err := t.in.answer(ctx)
	if err != nil {
		t.show("\n")
		if errors.Is(err, io.EOF) {
			return false, channels.ErrCannotAsk
		}
		return false, fmt.Errorf("terminal: no answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(l.text)) {
	case "y", "yes", "是":
		return true, nil
	}
	return false, nil
}

// worded is the question as shown: every field whole, one per line, with whatever is invisible written out.
func (t *Terminal) worded(q channels.Question) string {
	var b strings.Builder
	hidden := false
	field := func(id, value string) {
		if value == "" {
			return
		}
		text, changed := channels.Reveal(value)
		hidden = hidden || changed
		// Further lines are indented, so that no value can look like another field or like the question itself.
		b.WriteString("  " + t.say(id, strings.ReplaceAll(text, "\n", "\n      ")) + "\n")
	}
	b.WriteString(t.say("terminal.ask_title") + "\n")
	field("terminal.ask_caller", q.Caller)
	field("terminal.ask_tool", q.Tool)
	field("terminal.ask_command", q.Command)
	field("terminal.ask_input", q.Input)
	field("terminal.ask_env", q.Env)
	field("terminal.ask_args", q.Args)
	field("terminal.ask_cwd", q.Cwd)
	field("terminal.ask_effects", strings.Join(q.Effects, t.say("terminal.list_comma")))
	field("terminal.ask_reason", q.Reason)
	if hidden {
		b.WriteString("  " + t.say("terminal.ask_hidden") + "\n")
	}
	b.WriteString(t.say("terminal.ask_answer") + " ")
	return b.String()
}

package channels

import (
	"context"
	"errors"

	"github.com/maishell/maishell/session"
)

// Message is one text that came in.
type Message struct {
	Origin session.Origin
	Text   string // as it came, byte for byte: it may hold what is not UTF-8
}

// Sink takes what goes back to the person.
type Sink interface {
	// Reply shows a finished text.
	Reply(ctx context.Context, text string) error
	// Notice shows progress: a tool call about to run, its short result. Channels that cannot show it drop it.
	Notice(ctx context.Context, text string) error
}

// Streamer is a Sink that can show a reply while it is being written. Pieces are followed by Reply or Notice with the
// whole text, of which the sink then shows what is missing. One goroutine at a time.
type Streamer interface {
	Stream(ctx context.Context, piece string) error
}

// Prompter is a Sink whose person can answer a question while the turn that asks it is still running: the answer comes
// as their next message. Prompt shows the question and does not wait. It returns ErrCannotAsk (wrapped or not) when
// nobody can answer.
type Prompter interface {
	Prompt(ctx context.Context, question string) error
}

// Interjecter is a Sink that knows what its person said while the turn runs: Interjected takes it, text by text in order,
// as far as plain says yes. Channels that hand every text to the Handler at once need none.
type Interjecter interface {
	Interjected(plain func(text string) bool) []string
}

// Watcher is a Sink that can show how an action goes on that takes long. Watch begins that; name is the action on one
// line. peek hands over what gives the end of its output so far, which may be called from any goroutine, also after
// stop; it may be called never. stop ends the view.
type Watcher interface {
	Watch(name string) (peek func(func() string), stop func())
}

// Watch is out's Watch, or nothing when it is no Watcher.
func Watch(out Sink, name string) (peek func(func() string), stop func()) {
	if w, ok := out.(Watcher); ok {
		return w.Watch(name)
	}
	return nil, func() {}
}

// Handler answers messages. It returns ErrQuit when the person asked to leave.
type Handler interface {
	Handle(ctx context.Context, m Message, out Sink) error
}

// Beside is a Handler that can tell whether a message may be handled while another one of its conversation is: a command
// that looks or stops, the answer to a question. All others wait their turn.
type Beside interface {
	Beside(m Message) bool
}

// ErrQuit is what a handler returns when the person asked to leave; the channel ends without an error.
var ErrQuit = errors.New("channels: the person asked to leave")

// ErrCannotAsk is what Ask returns, at once, when nobody can answer on this channel, or not any more.
var ErrCannotAsk = errors.New("channels: nobody can be asked here")

// Question is what a person is asked before an action runs. Its texts are shown with Reveal and are never cut.
type Question struct {
	Caller  string   // who wants it: platform:user_id, with the group when there is one
	Tool    string   // the tool that would run
	Command string   // the shell text, byte for byte; empty when the tool runs none
	Input   string   // what the command would read on stdin; empty when nothing
	Env     string   // the variables that would be added, one on each line
	Args    string   // the tool's arguments as JSON, for tools without a command
	Cwd     string   // where it would run
	Effects []string // what it may do: read, write, execute, ...
	Reason  string   // why it is asked, already worded
}

// Asker puts a question to a person and waits for the answer. It returns ErrCannotAsk (wrapped or not) when nobody can
// answer (the person who left included) and ctx's error when the wait was ended. Only an explicit yes is true.
type Asker interface {
	Ask(ctx context.Context, q Question) (bool, error)
}

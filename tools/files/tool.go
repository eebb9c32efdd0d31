package files

import (
	"embed"
	"os"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/session"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

//go:embed *.md
var docs embed.FS

// Settings are the [files] section as it is at the time of a call.
type Settings struct {
	Workspace    string // absolute directory; empty: only an admin with AdminOpen can do anything
	AdminOpen    bool   // an admin may leave the workspace
	MaxReadBytes int    // of one read_file; ≤ 0: 200,000
}

const defaultMaxRead = 200_000

// OwnFiles knows what belongs to maishell itself.
type OwnFiles interface {
	// Contains answers for an absolute path, wherever links lead.
	Contains(path string) bool
	// ContainsFile answers by file identity.
	ContainsFile(fi os.FileInfo) bool
}

// Options are what the tools work with. The zero value is valid and reaches no file.
type Options struct {
	Settings func() Settings                 // asked at every call
	Own      OwnFiles                        // nil: nothing is ours
	Role     func(session.Origin) roles.Role // the caller's role now; nil: nobody is admin
	Texts    func() *texts.Catalog           // nil: message ids instead of sentences
	Redact   func(string) string             // the secret filter, for what read_file shows; nil: none
}

type readArgs struct {
	Path   string `json:"path" jsonschema:"file to read; relative to the workspace, or absolute"`
	Offset int    `json:"offset,omitempty" min:"1" jsonschema:"first line to read, counted from 1; default 1"`
	Limit  int    `json:"limit,omitempty" min:"1" jsonschema:"how many lines to read; default: as many as fit"`
}

type writeArgs struct {
	Path    string `json:"path" jsonschema:"file to write; relative to the workspace, or absolute; missing directories are made"`
	Content string `json:"content" jsonschema:"the whole text to write, up to 1 MiB with its JSON quoting"`
	Mode    string `json:"mode,omitempty" enum:"overwrite,create,append" jsonschema:"overwrite (default): replace the file or make it; create: refuse if it exists; append: add at the end"`
}

type listArgs struct {
	Path   string `json:"path,omitempty" jsonschema:"directory to list; relative to the workspace, or absolute; default: the workspace"`
	Hidden bool   `json:"hidden,omitempty" jsonschema:"also list names that begin with a dot; default false"`
}

// aliases are the names that other agents use for path, plus more of one tool.
func aliases(more map[string]string) map[string]string {
	out := map[string]string{"file": "path", "filename": "path", "file_path": "path", "filepath": "path", "target_file": "path", "absolute_path": "path", "uri": "path"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

type handler struct {
	opts Options
}

// New makes read_file, write_file and list_dir.
func New(o Options) ([]tools.Tool, error) {
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.Role == nil {
		o.Role = func(session.Origin) roles.Role { return roles.None }
	}
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	h := &handler{opts: o}
	read, err := tools.Define(spec("read_file", guard.Read, map[string]string{
		"start_line": "offset", "line": "offset", "from": "offset", "start": "offset", "max_lines": "limit", "num_lines": "limit", "lines": "limit", "count": "limit", "end_line": "", "encoding": "",
	}), h.planRead, h.read)
	if err != nil {
		return nil, err
	}
	write, err := tools.Define(spec("write_file", guard.Write, map[string]string{
		"text": "content", "contents": "content", "data": "content", "body": "content", "file_text": "content", "append": "mode", "overwrite": "mode", "create": "mode", "encoding": "", "permissions": "",
	}), h.planWrite, h.write)
	if err != nil {
		return nil, err
	}
	list, err := tools.Define(spec("list_dir", guard.Read, map[string]string{
		"dir": "path", "directory": "path", "folder": "path", "cwd": "path", "all": "hidden", "show_hidden": "hidden", "recursive": "", "depth": "", "pattern": "",
	}), h.planList, h.list)
	if err != nil {
		return nil, err
	}
	return []tools.Tool{read, write, list}, nil
}

func spec(name string, effect guard.Effect, more map[string]string) tools.Tool {
	return tools.Tool{
		Name:        name,
		Role:        roles.User,
		Effects:     []guard.Effect{effect},
		Description: tools.Text(docs, name),
		Aliases:     aliases(more),
	}
}

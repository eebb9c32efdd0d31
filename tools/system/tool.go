package system

import (
	"context"
	"embed"
	"slices"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/roles"
	"github.com/maishell/maishell/texts"
	"github.com/maishell/maishell/tools"
)

//go:embed *.md
var docs embed.FS

// Options are what get_system_info works with. The zero value is valid.
type Options struct {
	// Paths are directories whose file system is always reported beside the root's: the workspace, the working
	// directory. nil: none.
	Paths func() []string
	Texts func() *texts.Catalog // nil: message ids instead of sentences
}

// The topics, in the order in which they are reported.
const (
	topicHost      = "host"
	topicCPU       = "cpu"
	topicMemory    = "memory"
	topicDisk      = "disk"
	topicLoad      = "load"
	topicProcesses = "processes"
	topicListeners = "listeners"
	topicNetwork   = "network"
)

// args are the arguments of get_system_info.
type args struct {
	Topics []string `json:"topics,omitempty" enum:"host,cpu,memory,disk,load,processes,listeners,network" jsonschema:"what to report; default: host, cpu, memory, disk and load, or what port, path and name ask for"`
	Port   int      `json:"port,omitempty" min:"1" max:"65535" jsonschema:"who listens on this port (TCP or UDP); implies the topic listeners"`
	Path   string   `json:"path,omitempty" jsonschema:"report the file system that holds this absolute path; implies the topic disk"`
	Name   string   `json:"name,omitempty" jsonschema:"only processes of this program: its exact name, in any case, without .exe; implies the topic processes"`
	Limit  int      `json:"limit,omitempty" min:"1" max:"50" jsonschema:"how many processes to list, default 10"`
}

// defaultLimit is how many processes are listed.
const defaultLimit = 10

// topics are those that the arguments ask for.
func (a args) topics() []string {
	out := slices.Clone(a.Topics)
	if a.Port != 0 {
		out = append(out, topicListeners)
	}
	if a.Path != "" {
		out = append(out, topicDisk)
	}
	if a.Name != "" {
		out = append(out, topicProcesses)
	}
	if len(out) == 0 {
		return []string{topicHost, topicCPU, topicMemory, topicDisk, topicLoad}
	}
	return out
}

// New makes get_system_info.
func New(o Options) (tools.Tool, error) {
	if o.Texts == nil {
		o.Texts = func() *texts.Catalog { return nil }
	}
	if o.Paths == nil {
		o.Paths = func() []string { return nil }
	}
	s := &source{opts: o, disks: newDiskReader()}
	return tools.Define(tools.Tool{
		Name:        "get_system_info",
		Role:        roles.User,
		Effects:     []guard.Effect{guard.Read},
		Description: tools.Text(docs, "get_system_info"),
		Aliases:     map[string]string{"topic": "topics", "info": "topics", "kind": "topics", "fields": "topics", "directory": "path", "mount": "path", "process": "name", "program": "name", "count": "limit", "top": "limit"},
	}, nil, func(ctx context.Context, a args, _ guard.Action) (tools.Result, error) {
		report, err := s.report(ctx, a)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Body: report}, nil
	})
}

package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/maishell/maishell/executor"
	"github.com/maishell/maishell/policy"
)

// dialects knows which grammar a shell program reads: what was checked must be what runs. A program whose resolved
// name says it is answered at once; any other (an `sh` that may be bash under that name) is asked, once.
type dialects struct {
	exec  *executor.Executor
	known sync.Map // shell path → policy.Dialect
}

// of returns the dialect of the shell at path; what cannot be asked is read as POSIX.
func (d *dialects) of(path string) policy.Dialect {
	if v, ok := d.known.Load(path); ok {
		return v.(policy.Dialect)
	}
	dialect := d.find(path)
	d.known.Store(path, dialect)
	return dialect
}

func (d *dialects) find(path string) policy.Dialect {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	switch base := strings.TrimSuffix(strings.ToLower(filepath.Base(real)), ".exe"); base {
	case "bash":
		return policy.Bash
	case "dash", "busybox", "ash", "ksh", "mksh", "zsh", "cmd", "powershell", "pwsh":
		return policy.POSIX
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r := d.exec.Run(ctx, executor.Request{
		RunID: "dialect", Owner: "maishell", Shell: path, Dir: os.TempDir(), Timeout: 5 * time.Second,
		Command: `printf %s "${BASH_VERSION-}"`,
	})
	if r.Status == executor.OK && r.Stdout.Head != "" {
		return policy.Bash
	}
	return policy.POSIX
}

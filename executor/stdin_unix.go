//go:build unix

package executor

import (
	"errors"
	"os"
)

// stdin returns what a command reads: the null device, which stays open, or a file without a name. From a file nobody has to
// feed the command, and a command that does not read is no matter.
func (p *platform) stdin(text string) (*os.File, error) {
	if text == "" {
		return p.null, nil
	}
	f, err := os.CreateTemp("", "maishell-stdin-*") // 0600
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

package executor

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// stdin returns what a command reads: the null device, which stays open, or a file that goes with its last handle. From a
// file nobody has to feed the command, and a command that does not read is no matter.
func (p *platform) stdin(text string) (windows.Handle, error) {
	if text == "" {
		return p.null, nil
	}
	name, err := windows.UTF16PtrFromString(filepath.Join(os.TempDir(), "maishell-stdin-"+rand.Text()))
	if err != nil {
		return 0, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, inheritable(),
		windows.CREATE_NEW, windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return 0, err
	}
	for rest := []byte(text); len(rest) > 0 && err == nil; {
		var n uint32
		err = windows.WriteFile(h, rest, &n, nil)
		rest = rest[n:]
	}
	if err == nil {
		_, err = windows.Seek(h, 0, 0)
	}
	if err != nil {
		return 0, errors.Join(err, windows.CloseHandle(h))
	}
	return h, nil
}

package executor

import (
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

// defaultPath is empty: environmentBlock fills in the system's own directories, which no constant can name.
const defaultPath = ""

// envKey returns name in upper case: names differ only by spelling here.
func envKey(name string) string { return strings.ToUpper(name) }

// allowedEnv is the allowlist of env.go.
func allowedEnv(name string) bool {
	switch key := envKey(name); key {
	case "PATH", "PATHEXT", "COMSPEC", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "OS",
		"TEMP", "TMP", "USERPROFILE", "USERNAME", "USERDOMAIN", "COMPUTERNAME", "HOME", "HOMEDRIVE", "HOMEPATH",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC",
		"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
		"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_ARCHITEW6432", "PROCESSOR_IDENTIFIER",
		"PROCESSOR_LEVEL", "PROCESSOR_REVISION", "PSMODULEPATH", "DRIVERDATA", "SESSIONNAME",
		"LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "JAVA_HOME":
		return true
	}
	return false
}

// scrubEnv does nothing: unsetting a variable removes it from the block that other processes can read.
func scrubEnv(_, _ []string) {}

// handedOver returns nil: there is no second execution.
func handedOver() []string { return nil }

// environmentBlock returns env in the form that CreateProcess wants: UTF-16, sorted by name without regard to case, each
// entry and the block ended by a NUL. Without SystemRoot many programs do not start, and without PATH cmd.exe finds
// nothing (an empty PATH counts as none): both are filled in.
func environmentBlock(env []string) []uint16 {
	if system, err := windows.GetSystemDirectory(); err == nil {
		root, _ := windows.GetSystemWindowsDirectory()
		if lookup(env, "SystemRoot") == "" {
			env = overlay(env, []string{"SystemRoot=" + root})
		}
		if lookup(env, "PATH") == "" {
			env = overlay(env, []string{"PATH=" + system + ";" + root + ";" + system + `\Wbem`})
		}
	}
	env = slices.Clone(env)
	slices.SortStableFunc(env, func(a, b string) int { return strings.Compare(envKey(envName(a)), envKey(envName(b))) })
	var block []uint16
	for _, kv := range env {
		block = append(block, utf16.Encode([]rune(kv))...)
		block = append(block, 0)
	}
	if len(env) == 0 {
		block = append(block, 0)
	}
	return append(block, 0)
}

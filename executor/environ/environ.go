// Package environ knows which variables a call may give a command, and which not: those that make a shell, a loader, an
// interpreter or git run something else than the text that was judged. Whoever configures maishell is not bound by it.
//
// Invariant: names are compared as the system compares them; a name that cannot be one is refused.
package environ

import (
	"maps"
	"slices"
	"strings"
)

// Bounds of what a call may add.
const (
	MaxVariables = 128
	MaxBytes     = 16 << 10 // of all names and values
)

// Error is a code with parameters; the code is a message id of the texts catalog.
type Error struct {
	Code string // "executor_environ.name", "executor_environ.loader", ...
	Args []any
}

func (e *Error) Error() string { return e.Code }

// TextID returns the message id and its values.
func (e *Error) TextID() (string, []any) { return e.Code, e.Args }

// group is a kind of names; one that ends with * is a beginning.
type group struct {
	reason string
	names  []string
}

// refused is sorted by what the variables do. The names are from the manuals of the programs that read them.
func refused() []group {
	return []group{
		{"loader", []string{"LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "MALLOC_*", "RES_OPTIONS", "HOSTALIASES", "LOCALDOMAIN"}},
		{"shell", []string{
			"PATH", "ENV", "BASH_*", "SHELLOPTS", "BASHOPTS", "IFS", "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "POSIXLY_CORRECT",
			"ZDOTDIR", "FPATH", "SHELL", "COMSPEC", "PATHEXT", "PSMODULEPATH", "__PSLOCKDOWNPOLICY",
		}},
		{"interpreter", []string{
			"PYTHON*", "PERL5*", "PERLLIB", "PERL_*", "RUBY*", "GEM_*", "BUNDLE_*", "NODE_*", "NPM_CONFIG_*", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
			"JAVA_OPTS", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS", "LUA_*", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE*", "R_ENVIRON*", "TCLLIBPATH", "AWKPATH", "AWKLIBPATH",
			"DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "COR_*", "CORECLR_*", "GOFLAGS", "GOTOOLDIR", "RUSTC*", "CARGO_*", "ERL_*", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS",
		}},
		{"helper", []string{
			"PAGER", "*_PAGER", "MANPAGER", "LESS*", "LV", "MORE", "EDITOR", "VISUAL", "*_EDITOR", "BROWSER", "SUDO_*", "SSH_ASKPASS*", "GIT_ASKPASS", "RSYNC_RSH", "CVS_RSH",
			"TAR_OPTIONS", "GZIP", "GZIP_OPT", "GREP_OPTIONS", "DIFF_OPTIONS", "WGETRC", "CURL_HOME", "OPENSSL_CONF", "OPENSSL_*", "SYSTEMD_PAGERSECURE", "TMUX", "SCREEN*",
		}},
		{"git", []string{"GIT_*"}},
		{"identity", []string{"HOME", "USER", "LOGNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "XDG_*", "SYSTEMROOT", "WINDIR", "SSH_AUTH_SOCK", "DBUS_*", "KUBECONFIG"}},
		{"ours", []string{"MAISHELL*", "PWD", "OLDPWD", "_"}},
	}
}

// Check says what keeps the variables from being added by a call, or nil. key is how the system tells names apart: upper
// case where it does not tell cases apart.
func Check(vars map[string]string, key func(string) string) error {
	size := 0
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		value := vars[name]
		size += len(name) + len(value)
		switch {
		case !IsName(name):
			return &Error{Code: "executor_environ.name", Args: []any{clip(name)}}
		case strings.IndexByte(value, 0) >= 0:
			return &Error{Code: "executor_environ.nul", Args: []any{name}}
		}
		if reason := Refused(key(name)); reason != "" {
			return &Error{Code: "executor_environ." + reason, Args: []any{clip(name)}}
		}
	}
	if len(vars) > MaxVariables || size > MaxBytes {
		return &Error{Code: "executor_environ.many", Args: []any{len(vars), size, MaxVariables, MaxBytes}}
	}
	return nil
}

// Refused is why a call may not set the variable: loader, shell, interpreter, helper, git, identity or ours; "" when it may.
func Refused(name string) string {
	for _, g := range refused() {
		for _, n := range g.names {
			begin, isBegin := strings.CutSuffix(n, "*")
			end, isEnd := strings.CutPrefix(n, "*")
			switch {
			case isBegin && strings.HasPrefix(name, begin), isEnd && strings.HasSuffix(name, end), name == n:
				return g.reason
			}
		}
	}
	return ""
}

// IsName reports what every shell takes for a name.
func IsName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

func clip(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

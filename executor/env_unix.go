//go:build unix

package executor

// defaultPath is the PATH of a command when the host has none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// envKey returns name: names differ by case here.
func envKey(name string) string { return name }

// allowedEnv is the allowlist of env.go. LC_* is spelled out because people smuggle values through ssh in other LC_ names.
func allowedEnv(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ",
		"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
		"LC_ADDRESS", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_NAME", "LC_PAPER", "LC_TELEPHONE",
		"TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_CACHE_HOME", "XDG_DATA_HOME",
		"XDG_DATA_DIRS", "XDG_STATE_HOME",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "JAVA_HOME":
		return true
	}
	return false
}

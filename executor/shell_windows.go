package executor

import (
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/sys/windows"
)

// Codes of Error that only Windows knows.
const (
	codeCommandNewline = "executor.command_newline" // shell
	codeCommandNotText = "executor.command_not_utf8"
	codeLineLong       = "executor.command_line_too_long" // limit in UTF-16 units, length
)

// The longest command lines, in UTF-16 units: cmd.exe cuts off what is longer, CreateProcess refuses it.
const (
	maxCmdLine     = 8191
	maxProcessLine = 32766
)

// defaultShell returns %COMSPEC%, else the system's cmd.exe.
func defaultShell(env []string) string {
	if shell := lookup(env, "COMSPEC"); shell != "" {
		return shell
	}
	if system, err := windows.GetSystemDirectory(); err == nil {
		return system + `\cmd.exe`
	}
	return "cmd.exe"
}

// shellBase returns the name of a shell in lower case without folder and ".exe".
func shellBase(shell string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(shell)), ".exe")
}

// commandLine returns the command line that makes shell read command. cmd.exe gets the text as it is: with /S it takes
// off exactly the outer quotes. Other shells get it as one argument in the C runtime's quoting.
func commandLine(shell, command string) (string, *Error) {
	if !utf8.ValidString(command) {
		return "", &Error{Code: codeCommandNotText} // UTF-16 could only carry it changed
	}
	limit := maxProcessLine
	line := quoteArg(shell)
	switch base := shellBase(shell); base {
	case "cmd", "tcc":
		limit = maxCmdLine
		// cmd.exe reads up to the first line break and ignores the rest, which would run a part of what was checked.
		command = strings.TrimRight(command, "\r\n")
		if strings.ContainsAny(command, "\r\n") {
			return "", &Error{Code: codeCommandNewline, Args: []any{base}}
		}
		line += ` /D /S /C "` + command + `"`
	case "powershell", "pwsh":
		line += ` -NoProfile -NonInteractive -Command ` + quoteArg(command)
	default:
		if base == "bash" {
			line += ` --norc --noprofile`
		}
		line += ` -c `
		if strings.HasPrefix(command, "-") || strings.HasPrefix(command, "+") {
			line += `-- `
		}
		line += quoteArg(command)
	}
	if n := len(utf16.Encode([]rune(line))); n > limit {
		return "", &Error{Code: codeLineLong, Args: []any{limit, n}}
	}
	return line, nil
}

// quoteArg quotes always: unquoted text would be expanded by shells that came from Unix.
func quoteArg(s string) string {
	var quoted strings.Builder
	quoted.WriteByte('"')
	slashes := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			slashes++
		case '"': // backslashes only count before a quote
			quoted.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		quoted.WriteByte(s[i])
	}
	quoted.WriteString(strings.Repeat(`\`, slashes))
	quoted.WriteByte('"')
	return quoted.String()
}

// findShell returns the file of a shell that is named without a folder: from PATH, then from the system directory,
// never from the working directory.
func findShell(shell string, env []string) string {
	if strings.ContainsAny(shell, `\/:`) {
		return shell
	}
	name := shell
	if filepath.Ext(name) == "" {
		name += ".exe"
	}
	dirs := filepath.SplitList(lookup(env, "PATH"))
	if system, err := windows.GetSystemDirectory(); err == nil {
		dirs = append(dirs, system)
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if filepath.IsAbs(path) && isFile(path) {
			return path
		}
	}
	return shell
}

func isFile(path string) bool {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return false
	}
	attributes, err := windows.GetFileAttributes(name)
	return err == nil && attributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0
}

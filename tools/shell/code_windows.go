package shell

// codeNote explains the exit code of cmd.exe for a program that was not found.
func codeNote(code int) (id string, args []any) {
	if code == 9009 {
		return "tool_shell.code_127", nil
	}
	return "", nil
}

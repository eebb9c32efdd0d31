package policy

import (
	"strconv"
	"strings"
)

// Whole returns the text that says everything that a command with added variables and with input would do: the variables
// as assignments before it, the input as a here-document. It is for Parse alone; nobody runs it. command must be one that
// Parse takes. Variables are NAME=value.
//
// A single command gets the input itself, so that what a shell is given is read as its text; of several any may get it, which
// makes the text opaque where one of them runs what it reads.
func Whole(command string, env []string, input string) string {
	if len(env) == 0 && input == "" {
		return command
	}
	var b strings.Builder
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		b.WriteString(name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n")
	}
	if input == "" {
		return b.String() + command
	}
	end := delimiter(input)
	here := " <<'" + end + "'\n" + input + "\n" + end + "\n"
	if alone(command) {
		return b.String() + strings.TrimRight(command, " \t") + here
	}
	return b.String() + "{ " + command + "\n}" + here
}

// alone reports text in which nothing can stand between its only command and a redirection behind it.
func alone(command string) bool { return !strings.ContainsAny(command, "\n;&|#(){}<>`$\\") }

// delimiter is a line that the input does not have.
func delimiter(input string) string {
	for n := 0; ; n++ {
		end := "END" + strconv.Itoa(n)
		if !strings.Contains(input, end) {
			return end
		}
	}
}

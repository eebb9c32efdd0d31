//go:build unix

package texts

// systemLanguage answers nothing: on these systems the environment is the system's answer.
func systemLanguage() string { return "" }

package texts

import "golang.org/x/sys/windows"

// systemLanguage is the user's first display language, such as "zh-CN", or empty when Windows does not say.
func systemLanguage() string {
	langs, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(langs) == 0 {
		return ""
	}
	return langs[0]
}

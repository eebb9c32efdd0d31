package texts

import "strings"

// Detect gives the language for a person: the first of LC_ALL, LC_MESSAGES and LANG that is set, else what the
// system says (Windows sets none of them). Chinese of any kind is "zh", everything else "en".
func Detect(getenv func(string) string) string {
	return detect(getenv, systemLanguage)
}

func detect(getenv func(string) string, system func() string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := getenv(name); v != "" {
			return fromLocale(v)
		}
	}
	return fromLocale(system())
}

func fromLocale(locale string) string {
	name := strings.ToLower(strings.TrimSpace(locale))
	if name == "zh" || strings.HasPrefix(name, "zh_") || strings.HasPrefix(name, "zh-") || strings.HasPrefix(name, "zh.") {
		return "zh"
	}
	return "en"
}

package config

import (
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// PeekLanguage returns the language of [ui] language, "en" or "zh", as Load with the same options would take it, and
// nothing when it is not set to one of the two. It never fails: what is wrong with the settings is for Load to say, in
// this language.
func PeekLanguage(o Options) string {
	getenv := lookupEnv(o.Env)
	lang := getenv(variableOf("ui.language"))
	if lang == "" {
		_, data, _ := find(o, getenv)
		lang = languageIn(data)
	}
	if lang == "en" || lang == "zh" {
		return lang
	}
	return ""
}

// languageIn reads a file as far as it is TOML.
func languageIn(data []byte) string {
	var p unstable.Parser
	p.Reset(data)
	var section []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			section = keyOf(nil, e)
		case unstable.KeyValue:
			if lang := languageAt(section, e); lang != "" {
				return lang
			}
		}
	}
	return ""
}

func languageAt(section []string, n *unstable.Node) string {
	path := keyOf(section, n)
	switch v := n.Value(); {
	case v.Kind == unstable.String && slices.Equal(path, []string{"ui", "language"}):
		return string(v.Data)
	case v.Kind == unstable.InlineTable && slices.Equal(path, []string{"ui"}):
		for it := v.Children(); it.Next(); {
			if lang := languageAt(path, it.Node()); lang != "" {
				return lang
			}
		}
	}
	return ""
}

package redact

// Builtin returns the patterns that the zero Options use. They show what kind of secret stood there: a token keeps its
// prefix, an assignment its name, a URL its user.
func Builtin() []Pattern {
	return append(tokens(),
		Pattern{
			Name:     "private-key",
			Prefixes: []string{"-----BEGIN "},
			// Lines of base64, also with \n written out as in JSON, and headers such as "Proc-Type: 4,ENCRYPTED".
			Expr: `-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[rnt])*` +
				`((?:[A-Za-z0-9+/=*]|\\[rnt]|\s|[A-Za-z]+(?:-[A-Za-z]+)*: [^\r\n\\]*)+)`,
			keeps: true,
			tail:  true,
		},
		Pattern{
			Name:     "authorization",
			Prefixes: []string{"authorization"},
			Expr: `(?i)authorization\\?["']?[ \t]*[:=][ \t]*\\?["']?(?:(?:bearer|basic|token|digest|apikey)[ \t]+)?` +
				`([^\s"'\\,;]+)`,
			accept: acceptAuthorization,
			keeps:  true,
		},
		Pattern{
			Name:     "bearer",
			Prefixes: []string{"bearer "},
			Expr:     `(?i)bearer[ \t]+([a-z0-9._~+/-]+=*)`,
			before:   atWord,
			accept:   acceptBearer,
			keeps:    true,
		},
		Pattern{
			Name:     "url-password",
			Prefixes: []string{"://"},
			Expr:     "://[^\\s/:@\"'<>`?#]*:([^\\s/\"'<>`?#]+)@",
			accept:   acceptURLPassword,
			max:      1 << 10,
			keeps:    true,
		},
		Pattern{
			Name: "assignment",
			Prefixes: []string{
				"api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "secret", "token", "passwd",
				"password", "passphrase",
			},
			// name, an optional quote (also \" as in JSON within JSON), = or : and a value, quoted or not.
			Expr: `(?i)(?:api[_-]?key|access[_-]?key(?:[_-]?secret)?|secret(?:[_-]?(?:access[_-]?)?key)?|token|passwd|` +
				`password|passphrase)\\?["']?[ \t]*[:=]>?[ \t]*(?:` +
				`\\?"([^\s"\\]+)(?:\\?"|\z)|'([^\s']+)(?:'|\z)|([^\s"'` + "`" + `,;&<>\\][^\s"'` + "`" + `,;&<>]*))`,
			accept: acceptAssignment,
			max:    512,
			keeps:  true,
		},
	)
}

// tokens are the secrets known by their prefix.
func tokens() []Pattern {
	return []Pattern{
		{
			Name:     "aws-key-id",
			Prefixes: []string{"AKIA", "ASIA", "ABIA", "ACCA"},
			Expr:     `A(?:KIA|SIA|BIA|CCA)([A-Z0-9]{16,})`,
			before:   atWord,
			keeps:    true,
		},
		{
			Name:     "github",
			Prefixes: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
			Expr:     `gh[opusr]_([A-Za-z0-9]{30,})|github_pat_([A-Za-z0-9_]{22,})`,
			before:   atWord,
			keeps:    true,
		},
		{
			Name:     "gitlab",
			Prefixes: []string{"glpat-"},
			Expr:     `glpat-([A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+)*)`,
			before:   atToken,
			keeps:    true,
		},
		{
			Name:     "slack",
			Prefixes: []string{"xox", "xapp-"},
			Expr:     `(?:xox[a-z]|xapp)-([A-Za-z0-9-]{10,})`,
			before:   atToken,
			keeps:    true,
		},
		{
			Name:     "sk-key",
			Prefixes: []string{"sk-"},
			// One segment must be long, and not only letters: sk-learn-something-else is a name. Anthropic and OpenAI project keys have
			// dashes anywhere.
			Expr:   `sk-(?:ant|proj|svcacct|admin)-([A-Za-z0-9_-]{16,})|sk-(?:[a-z0-9]+-)*([A-Za-z0-9_]{16,}[A-Za-z0-9_-]*)`,
			before: atToken,
			accept: acceptKey,
			keeps:  true,
		},
		{
			Name:     "google",
			Prefixes: []string{"AIza"},
			Expr:     `AIza([A-Za-z0-9_-]{30,})`,
			before:   atToken,
			keeps:    true,
		},
		{
			Name:     "npm",
			Prefixes: []string{"npm_"},
			Expr:     `npm_([A-Za-z0-9]{30,})`,
			before:   atWord,
			keeps:    true,
		},
		{
			Name:     "telegram-bot",
			Prefixes: []string{":"},
			Expr:     `:([A-Za-z0-9_-]{35,})`,
			before:   afterBotID,
			keeps:    true,
		},
		{
			Name:     "jwt",
			Prefixes: []string{"eyJ"},
			Expr:     `eyJ([A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)`,
			before:   atToken,
			max:      overlap,
			keeps:    true,
		},
	}
}

// atWord says that a token can begin after text: not inside a word.
func atWord(text []byte) bool {
	n := len(text)
	return n == 0 || !isWord(text[n-1]) || text[n-1] == '_' || escapeEnds(text)
}

// atToken is atWord for tokens in which - and _ are ordinary characters.
func atToken(text []byte) bool {
	n := len(text)
	return n == 0 || !isWord(text[n-1]) && text[n-1] != '-' || escapeEnds(text)
}

// escapeEnds says that what looks like the end of a word is that of \n, %3D, \u003d or a terminal colour.
func escapeEnds(text []byte) bool {
	n := len(text)
	if n >= 2 && text[n-2] == '\\' && (text[n-1] == 'n' || text[n-1] == 'r' || text[n-1] == 't') {
		return true
	}
	if n >= 3 && text[n-3] == '%' && isHex(text[n-2]) && isHex(text[n-1]) {
		return true
	}
	if n >= 6 && text[n-6] == '\\' && text[n-5] == 'u' && isHex(text[n-4]) && isHex(text[n-3]) && isHex(text[n-2]) && isHex(text[n-1]) {
		return true
	}
	if text[n-1] != 'm' {
		return false
	}
	i := n - 2
	for i >= 0 && (isDigit(text[i]) || text[i] == ';') {
		i--
	}
	return i >= 1 && text[i] == '[' && text[i-1] == 0x1b
}

// afterBotID says that text ends with the number that a bot token of Telegram begins with.
func afterBotID(text []byte) bool {
	n := len(text)
	for n > 0 && isDigit(text[n-1]) {
		n--
	}
	return len(text)-n >= 6
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isHex(b byte) bool { return isDigit(b) || lower(b) >= 'a' && lower(b) <= 'f' }

func isLetter(b byte) bool { return lower(b) >= 'a' && lower(b) <= 'z' }

func isWord(b byte) bool { return isLetter(b) || isDigit(b) || b == '_' }

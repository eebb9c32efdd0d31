package offline

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxQuestion is the longest text that is read as a question, in characters. Longer ones say more than these.
const maxQuestion = 120

// maxTop is the most processes that "top N" lists.
const maxTop = 20

// question is what somebody wants to know about this host.
type question struct {
	topics  []string // what is asked about: topics of get_system_info, and uptime
	port    int      // with topic listeners; 0: all
	path    string   // with topic disk; empty: all file systems
	by      string   // with topic processes: "cpu" or "memory"
	top     int      // with topic processes: how many; 0: the usual number
	process string   // with topic processes: the name that is looked for
	swap    bool     // with topic memory: swap was named
	noPort  bool     // with topic listeners: the number cannot be a port's
	english bool     // it was asked in English
}

// chinese reports whether a text has a Chinese character.
func chinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// plain is text in the form in which phrases are written, but for upper case.
func (l *lexicon) plain(text string) string {
	return l.simplify.Replace(strings.ReplaceAll(norm.NFKC.String(strings.TrimSpace(text)), "’", "'"))
}

// isCommand reports whether text is the name of a chat command, or what many would call one, without the slash.
func (l *lexicon) isCommand(text string) bool {
	word := strings.ToLower(strings.TrimRight(l.plain(text), "?!.。 "))
	return slices.Contains(l.kinds[word], "command")
}

// understand reads text as a question. False: on doubt.
func (l *lexicon) understand(text string) (question, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, "\r\n") || utf8.RuneCountInString(text) > maxQuestion {
		return question{}, false
	}
	text = l.plain(text)
	if name, ok := l.processName(text); ok {
		return question{topics: []string{"processes"}, process: name, english: true}, true
	}
	text, path, ok := cutPath(text)
	if !ok {
		return question{}, false
	}
	r := l.read(strings.ToLower(text))
	if !r.known || r.has["veto"] || r.has["notname"] || r.has["command"] || !asks(r, strings.HasSuffix(text, "?")) {
		return question{}, false
	}
	var q question
	if path != "" {
		q, ok = pathQuestion(r, path)
	} else if q, ok = portQuestion(r); !ok {
		q, ok = hostQuestion(r)
	}
	q.english = r.english
	return q, ok
}

// pathForm is an absolute path or a drive. Paths with Chinese characters are not told from the words around them.
var pathForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[\s\p{Han}])(/[^\s?!,;\p{Han}，。；、]*|[A-Za-z]:\\?|[A-Za-z]盘)($|[\s?\p{Han}])`)
})

// cutPath takes the path out of a text; false when there are several.
func cutPath(text string) (rest, path string, ok bool) {
	m := pathForm().FindStringSubmatchIndex(text)
	if m == nil {
		return text, "", true
	}
	path, rest = text[m[4]:m[5]], text[:m[4]]+" "+text[m[5]:]
	if path[0] != '/' {
		path = strings.ToUpper(path[:1]) + `:\`
	}
	return rest, path, !pathForm().MatchString(rest)
}

// pathQuestion: how full the file system is that holds path.
func pathQuestion(r reading, path string) (question, bool) {
	h := r.has
	for _, other := range []string{"memory", "load", "cpu", "processes", "uptime", "host", "overview", "port", "listen"} {
		if h[other] {
			return question{}, false
		}
	}
	if len(r.numbers) > 0 || !h["disk"] && !h["fill"] || h["who"] && h["use"] {
		return question{}, false
	}
	return question{topics: []string{"disk"}, path: path}, true
}

// asks tells a question, or a bare measure ("disk usage"), from a statement or an order.
func asks(r reading, mark bool) bool {
	if mark || r.bare || r.has["who"] || r.has["ask"] || slices.Contains(r.first, "be") || r.has["show"] && slices.Contains(r.first, "show") {
		return true
	}
	return r.has["measure"] && !r.has["be"] && !r.has["predicate"] && !r.has["show"]
}

// maxPort is the highest number that a port can have.
const maxPort = 65535

// portQuestion: who listens where.
func portQuestion(r reading) (question, bool) {
	h := r.has
	for _, other := range []string{"disk", "memory", "load", "cpu", "uptime", "host", "overview"} {
		if h[other] {
			return question{}, false
		}
	}
	taken := h["listen"] || h["use"] || h["busy"] || h["who"] && h["at"]
	shown := h["port"] && (h["show"] || r.bare)
	switch {
	case len(r.numbers) == 1 && (taken || shown):
		n, named := r.numbers[0], h["port"] || h["listen"]
		if named && (n < 1 || n > maxPort) {
			return question{topics: []string{"listeners"}, noPort: true}, true
		}
		// A small number that nobody calls a port ("is 5 free?") may be anything.
		return question{topics: []string{"listeners"}, port: n}, n <= maxPort && (named || n >= 1000)
	case len(r.numbers) == 0 && (h["port"] && taken || shown || h["listen"]):
		return question{topics: []string{"listeners"}}, true
	}
	return question{}, false
}

// hostQuestion: how the host is doing.
func hostQuestion(r reading) (question, bool) {
	h := r.has
	eats := h["who"] && h["use"]
	if h["port"] || h["listen"] || eats && h["disk"] {
		return question{}, false
	}
	if h["processes"] || eats && (h["cpu"] || h["memory"] || h["load"]) {
		return processQuestion(r)
	}
	if len(r.numbers) > 0 {
		return question{}, false
	}
	var topics []string
	for _, topic := range []string{"host", "uptime", "load", "cpu", "memory", "disk"} {
		if h[topic] || h["overview"] && topic != "cpu" {
			topics = append(topics, topic)
		}
	}
	return question{topics: topics, swap: h["swap"]}, len(topics) > 0
}

func processQuestion(r reading) (question, bool) {
	q := question{topics: []string{"processes"}, by: "cpu"}
	for _, other := range []string{"disk", "uptime", "host", "overview"} {
		if r.has[other] {
			return question{}, false
		}
	}
	if r.has["memory"] {
		if r.has["cpu"] {
			return question{}, false
		}
		q.by = "memory"
	}
	switch {
	case len(r.numbers) == 1 && r.numbers[0] >= 1 && r.numbers[0] <= maxTop:
		q.top = r.numbers[0]
	case len(r.numbers) > 0:
		return question{}, false
	}
	return q, true
}

// Forms of "is NAME running?". A name is what a program file may be called, so that no sentence is taken for one.
const nameForm = `([A-Za-z0-9][A-Za-z0-9._+-]{0,63})`

// Compiled at the first question: that takes longer than the rest of a start.
var runningForms = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(?:is|are) (?:the |an? |there (?:an? |any )|any )?` + nameForm +
			`(?: (?:process|processes|service|server|daemon))?(?: still| currently| already)? (?:running|up|alive)(?: now| right now| here| on this (?:host|machine|server|box))? ?\??$`),
		regexp.MustCompile(`(?i)^is there (?:an? |any )` + nameForm + ` (?:process|daemon)(?: running)? ?\??$`),
		regexp.MustCompile(`(?i)^(?:please )?(?:check|see|tell me) (?:if|whether) (?:the )?` + nameForm +
			`(?: (?:process|service|server|daemon))? is (?:still )?(?:running|up|alive) ?[?.]?$`),
		regexp.MustCompile(`^(?:请问|请|帮我|帮忙)?(?:看看|看一下|看下|查一下|查下|检查|检查一下|确认一下)? ?` + nameForm + ` ?(?:的)?(?:进程|服务|程序)? ?` +
			`(?:现在|目前|当前)?(?:还|是不是|有没有|是否|有)?(?:正在|正|在)?(?:运行|跑|启动|活)(?:着|了|起来)*(?:吗|么|没有|没|呢|\?)+$`),
		regexp.MustCompile(`^(?:请问|请|帮我|帮忙)?(?:看看|看一下|看下|查一下|查下|检查|检查一下|确认一下)? ?` + nameForm + ` ?(?:的)?(?:进程|服务|程序)? ?` +
			`(?:现在|目前|当前)?(?:还)?(?:是不是|有没有|是否)(?:还)?(?:正在|正|在)?(?:运行|跑|启动|活)(?:着|了|起来)*\??$`),
		regexp.MustCompile(`^(?:请问|请)?(?:现在|目前)?有(?:没有)? ?` + nameForm + ` ?(?:进程|程序)(?:在)?(?:运行|跑)?(?:着)?(?:吗|么|\?)*$`),
	}
})

// processName finds the name in a question whether a program runs. Words of the vocabulary are no names.
func (l *lexicon) processName(text string) (string, bool) {
	text = strings.TrimRight(text, "。.！! ")
	for i, form := range runningForms() {
		m := form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := m[1]
		if i == len(runningForms())-1 && !strings.ContainsAny(text, "?吗么") && !strings.Contains(text, "有没有") {
			return "", false
		}
		// NFKC made the text's digits plain, so a bare number is not a name but a port or a count.
		return name, len(l.kinds[strings.ToLower(name)]) == 0 && strings.ContainsFunc(name, unicode.IsLetter)
	}
	return "", false
}

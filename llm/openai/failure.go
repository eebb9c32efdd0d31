package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/maishell/maishell/llm"
)

const (
	firstPause = 500 * time.Millisecond
	maxPause   = 60 * time.Second // who asks for more waiting gets no further try
	maxExcerpt = 300              // characters of a service's own words in an error
)

// tooLong are the words by which services say that a request does not fit their model.
var tooLong = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)context[_ -]?(length|window|size)|maximum context|n_ctx|too many tokens|` +
		`(prompt|input|request|conversation|messages?) (is|are) too (long|large)|reduce the length|token limit`)
})

// spent are the words by which services say that waiting will not help.
var spent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)insufficient[_ ](quota|balance|credit)|billing|exceeded your current quota`)
})

// facts are what an error of the library says.
type facts struct {
	status int
	text   string // the service's own words, any length
	code   string
}

func factsOf(err error) (facts, bool) {
	var r *api.RequestError // first: it may wrap an APIError into which nothing could be read
	if errors.As(err, &r) {
		return facts{status: r.HTTPStatusCode, text: wordsOf(r.Body)}, true
	}
	var a *api.APIError
	if errors.As(err, &a) {
		code := ""
		if a.Code != nil {
			code = fmt.Sprint(a.Code)
		}
		return facts{status: a.HTTPStatusCode, text: a.Message, code: code + " " + a.Type}, true
	}
	return facts{}, false
}

// wordsOf is what a body of an unusual form says: its message where it has one.
func wordsOf(body []byte) string {
	var said struct {
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	if json.Unmarshal(body, &said) == nil && said.Message+said.Detail != "" {
		return strings.TrimSpace(said.Message + " " + said.Detail)
	}
	return string(body)
}

func (f facts) overflow() bool {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return false
	}
	return tooLong().MatchString(f.code) || tooLong().MatchString(f.text)
}

// refused are the codes by which services that can only fail inside the stream say what else a status would.
var refused = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)invalid|auth|permission|not_found`)
})

// final tells whether an error inside the stream is one that stays.
func (f facts) final() bool { return f.status == 0 && refused().MatchString(f.code) }

// limitUnknown tells whether a service refused max_tokens, whose newer name is max_completion_tokens.
func limitUnknown(err error) bool {
	if errors.Is(err, api.ErrReasoningModelMaxTokensDeprecated) {
		return true
	}
	f, ok := factsOf(err)
	return ok && (f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity) && strings.Contains(f.text, "max_tokens")
}

// temporary tells whether the same request may do better a little later.
func temporary(err error) bool {
	if f, ok := factsOf(err); ok {
		switch {
		case f.overflow(), spent().MatchString(f.code), spent().MatchString(f.text):
			return false
		case f.status == 0: // an error inside the stream
			return !f.final()
		}
		return f.status == http.StatusTooManyRequests || f.status == http.StatusRequestTimeout ||
			f.status == http.StatusConflict || f.status >= 500 && f.status != http.StatusNotImplemented
	}
	var n net.Error
	var away *redirected
	if errors.As(err, &away) || errors.Is(err, errTooBig) {
		return false
	}
	return errors.Is(err, errCut) || errors.Is(err, errBroken) || errors.Is(err, errEmpty) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, &n)
}

// explain words what went wrong without the key.
func (m *Model) explain(err error) error {
	if f, ok := factsOf(err); ok {
		words := m.excerpt(plainText(f.text))
		switch {
		case f.overflow():
			return fmt.Errorf("%w: %s", llm.ErrContextTooLong, words)
		case f.status == http.StatusUnauthorized || f.status == http.StatusForbidden:
			return &llm.Error{Code: "llm.unauthorized", Args: []any{f.status, words}}
		case f.status == http.StatusNotFound:
			return &llm.Error{Code: "llm.not_found", Args: []any{m.opts.Model, m.host(), words}}
		case f.status == http.StatusTooManyRequests:
			return &llm.Error{Code: "llm.busy", Args: []any{words}}
		case f.final():
			return &llm.Error{Code: "llm.declined", Args: []any{words}}
		case f.status == 0:
			return &llm.Error{Code: "llm.broke_off", Args: []any{words}}
		}
		return &llm.Error{Code: "llm.refused", Args: []any{f.status, words}}
	}
	var page *notAStream
	var away *redirected
	var u *url.Error
	switch {
	case errors.As(err, &away):
		return &llm.Error{Code: "llm.redirected", Args: []any{m.host(), m.excerpt(away.to)}}
	case errors.Is(err, errTooBig):
		return &llm.Error{Code: "llm.too_big"}
	case errors.As(err, &page):
		return &llm.Error{Code: "llm.not_a_stream", Args: []any{page.kind, m.excerpt(plainText(page.text))}}
	case errors.Is(err, errEmpty):
		return &llm.Error{Code: "llm.no_answer"}
	case errors.Is(err, errFiltered):
		return &llm.Error{Code: "llm.filtered"}
	case errors.Is(err, errTooManyCalls):
		return &llm.Error{Code: "llm.too_many_calls", Args: []any{maxCalls}}
	case errors.Is(err, errCut), errors.Is(err, io.ErrUnexpectedEOF):
		return &llm.Error{Code: "llm.cut"}
	case errors.Is(err, errBroken):
		return &llm.Error{Code: "llm.broke_off", Args: []any{"-"}}
	case errors.As(err, &u):
		// Not the URL itself: people put keys into it.
		return &llm.Error{Code: "llm.unreachable", Args: []any{m.host(), m.excerpt(u.Err)}}
	}
	return &llm.Error{Code: "llm.unreadable", Args: []any{m.excerpt(err)}}
}

// host is where the service is, without anything secret.
func (m *Model) host() string {
	u, err := url.Parse(m.opts.BaseURL)
	if err != nil || u.Host == "" {
		return "-"
	}
	return u.Host
}

// markup is what stands between angle brackets, with the whole of what is no text.
var markup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<!--.*?-->|<[^<>]*>`)
})

// plainText is an HTML page as its words.
func plainText(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	return markup().ReplaceAllString(s, " ")
}

// pause is how long to wait before try n+1: what the service asked for, else growing and scattered.
func pause(n int, retryAfter string) time.Duration {
	if s, err := strconv.ParseFloat(strings.TrimSpace(retryAfter), 64); err == nil && s >= 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if at, err := http.ParseTime(retryAfter); err == nil {
		return max(0, time.Until(at))
	}
	d := firstPause << min(n, 5)
	return d/2 + rand.N(d/2+1) //nolint:gosec // spreads tries, keeps no secret
}

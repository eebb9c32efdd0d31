package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/maishell/maishell/agent"
	"github.com/maishell/maishell/config"
	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/llm/offline"
	"github.com/maishell/maishell/llm/openai"
	"github.com/maishell/maishell/subagent"
	"github.com/maishell/maishell/tools"
)

const (
	maxKeyFile = 16 << 10 // bytes
	// minSecret is the shortest key that the secret filter takes; a shorter one is none.
	minSecret = 6
)

// modelKey is the key of the configured model; empty: none is sent. The file comes before the variable.
func modelKey(cfg *config.Config, sys system) (string, error) {
	c := cfg.LLM
	if c.APIKeyFile == "" {
		if c.APIKeyEnv == "" {
			return "", nil
		}
		return strings.TrimSpace(sys.getenv(c.APIKeyEnv)), nil
	}
	f, err := os.Open(c.APIKeyFile)
	if err != nil {
		return "", fmt.Errorf("llm.api_key_file: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", usageError{id: "app.key_file", args: []any{c.APIKeyFile}}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return "", fmt.Errorf("llm.api_key_file: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" || len(text) > maxKeyFile || strings.ContainsAny(key, "\r\n") {
		return "", usageError{id: "app.key_file", args: []any{c.APIKeyFile}}
	}
	return key, nil
}

// rememberProxies has net/http read the proxies that env names: it does so once, from an environment that has been taken
// away. What is set here for that moment is our own copy, which no other process sees.
func rememberProxies(env []string) {
	var set []string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY":
			if os.Getenv(name) == "" && os.Setenv(name, value) == nil {
				set = append(set, name)
			}
		}
	}
	_, _ = http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: "example.invalid"}}) // only to have it read
	for _, name := range set {
		_ = os.Unsetenv(name) // the name is a good one
	}
}

// secretsOf are the values that the secret filter hides wherever they stand.
func secretsOf(key string) []string {
	if len(key) < minSecret {
		return nil
	}
	return []string{key}
}

// liveModel is the model of the snapshot in force: the configured one, or the offline planner. It is safe for concurrent
// use.
type liveModel struct {
	set     *snapshotHolder
	key     string
	spender llm.Spender
	client  *http.Client
	log     *slog.Logger
	planner *offline.Model

	mu      sync.Mutex
	made    config.LLM
	current llm.Model // for made; nil: none yet
}

func newLiveModel(rt *runtime, key string) *liveModel {
	return &liveModel{
		set: rt.set, key: key, spender: rt.store, log: rt.log, planner: offline.New(),
		client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
	}
}

// configured tells whether there is a service to ask.
func configured(c config.LLM) bool { return c.BaseURL != "" && c.Model != "" }

// model is the one to ask now.
func (m *liveModel) model() (llm.Model, error) {
	c := m.set.get().config.LLM
	if !configured(c) {
		return m.planner, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != nil && m.made == c {
		return m.current, nil
	}
	retries := c.MaxRetries
	if retries == 0 {
		retries = -1
	}
	service, err := openai.New(openai.Options{
		BaseURL: c.BaseURL, Model: c.Model, Key: func() string { return m.key }, Retries: retries, Whole: !c.Stream,
		Timeout: time.Duration(c.TimeoutSeconds) * time.Second, HTTPClient: m.client, Logger: m.log,
	})
	if err != nil {
		return nil, err
	}
	m.made = c
	m.current = llm.Meter(service, llm.MeterOptions{
		Spender: m.spender, Logger: m.log,
		Limit: func() int { return m.set.get().config.LLM.MaxTokensPerDay },
	})
	return m.current, nil
}

// Name is the name of the model in force.
func (m *liveModel) Name() string {
	model, err := m.model()
	if err != nil {
		return "-"
	}
	return model.Name()
}

// Complete asks the model in force.
func (m *liveModel) Complete(ctx context.Context, r llm.Request, onText func(string)) (llm.Message, error) {
	model, err := m.model()
	if err != nil {
		return llm.Message{}, err
	}
	return model.Complete(ctx, r, onText)
}

func (m *liveModel) close() { m.client.CloseIdleConnections() }

// modelStatus says in words which model is in force.
func (s *snapshot) modelStatus() string {
	c := s.config.LLM
	if !configured(c) {
		return s.texts.Say("app.status_offline")
	}
	host := c.BaseURL
	if u, err := url.Parse(c.BaseURL); err == nil {
		host = u.Host
	}
	return s.texts.Say("app.status_service", c.Model, host)
}

// limits bound the turns by the snapshot in force.
func (rt *runtime) limits() agent.Limits {
	c := rt.set.get().config
	return agent.Limits{
		Rounds: c.Agent.MaxRounds, ParallelTools: c.Agent.MaxParallelTools, ContextTokens: c.Agent.ContextTokens,
		TurnsPerMinute: c.Agent.MaxTurnsPerMinute, AskTimeout: time.Duration(c.Agent.AskTimeoutSeconds) * time.Second,
		ModelTimeout: time.Duration(c.LLM.TimeoutSeconds) * time.Second,
		OneAtATime:   !configured(c.LLM), // the planner understands one question at a time
	}
}

// subagents makes the tools that ask sub-agents.
func (rt *runtime) subagents() ([]tools.Tool, error) {
	return subagent.New(subagent.Options{
		Model: rt.model, Registry: rt.registry, Texts: rt.texts, Logger: rt.log,
		Settings: func() subagent.Settings {
			c := rt.set.get().config
			return subagent.Settings{
				MaxRounds: c.Subagent.MaxRounds, MaxResultChars: c.Subagent.MaxResultChars,
				MaxParallel: c.Subagent.MaxParallelSubagents, ParallelTools: c.Agent.MaxParallelTools,
				ContextTokens: c.Agent.ContextTokens, ModelTimeout: time.Duration(c.LLM.TimeoutSeconds) * time.Second,
			}
		},
	})
}

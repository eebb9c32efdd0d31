package app

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/maishell/maishell/llm"
	"github.com/maishell/maishell/llm/openai"
)

// onlineWait is how long doctor waits for a model.
const onlineWait = 30 * time.Second

// examineModel looks at the settings of the model, and asks it one word when told to.
func (d *examination) examineModel(ctx context.Context, sys system, snap *snapshot) {
	c := snap.config.LLM
	if !configured(c) {
		d.add("model", stateOK, "app.status_offline")
		return
	}
	key, err := modelKey(snap.config, sys)
	if d.fail("model", err) {
		return
	}
	service, err := openai.New(openai.Options{
		BaseURL: c.BaseURL, Model: c.Model, Key: func() string { return key }, Retries: -1, Timeout: onlineWait,
		HTTPClient: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
	})
	if d.fail("model", err) {
		return
	}
	d.add("model", stateOK, "app.doctor_model", snap.modelStatus())
	if base := strings.TrimRight(c.BaseURL, "/"); strings.HasSuffix(base, "/chat/completions") {
		d.add("model", stateFail, "app.doctor_url_whole", strings.TrimSuffix(base, "/chat/completions"))
	}
	d.examineKey(snap, key)
	if !d.online {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, onlineWait)
	defer cancel()
	begun := time.Now()
	_, err = service.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: "user", Content: "ping"}}}, nil)
	if !d.fail("model", err) {
		d.add("model", stateOK, "app.doctor_model_answers", time.Since(begun).Round(time.Millisecond))
	}
}

// examineKey looks at where the key comes from, and where it goes. It is never shown.
func (d *examination) examineKey(snap *snapshot, key string) {
	c := snap.config.LLM
	switch {
	case c.APIKeyFile != "":
		d.add("key", stateOK, "app.doctor_key_file", c.APIKeyFile)
		if info, err := os.Stat(c.APIKeyFile); err == nil && openToOthers(info) {
			d.add("key", stateWarn, "app.doctor_key_open", c.APIKeyFile, info.Mode().Perm())
		}
	case c.APIKeyEnv == "":
		d.add("key", stateOK, "app.doctor_key_none")
	case key == "":
		d.add("key", stateWarn, "app.doctor_key_unset", c.APIKeyEnv)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		d.add("key", stateFail, "app.doctor_key_form", c.APIKeyEnv)
	default:
		d.add("key", stateOK, "app.doctor_key_env", c.APIKeyEnv)
	}
	if u, err := url.Parse(c.BaseURL); err == nil && key != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		d.add("key", stateWarn, "app.doctor_key_clear", u.Host)
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

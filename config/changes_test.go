package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := filepath.Join(p.dir, "config.toml")
	o := p.options(t)
	o.Env = []string{"MAISHELL_SHELL__MAX_RUNNING=7"}
	o.Flags = map[string]string{"shell.max_running": "8", "ui.language": "zh"}
	load := func(text string) *Config {
		t.Helper()
		write(t, path, "config_version = 1\n"+text)
		return mustLoad(t, o)
	}
	before := load("")
	same := load("# only a comment\n[shell]\ntimeout_seconds = 60.0\n")
	if got := same.Changes(before); got != nil {
		t.Errorf("%+v", got)
	}
	after := load("[shell]\ntimeout_seconds = 5\nmax_running = 3\n[permission]\nadmins = [\"qq:1\"]\nlocal_role = \"user\"\n[store]\ndir = \"/tmp/x\"\n")
	want := []Change{
		{Key: "permission.admins", Old: "[]", New: `["qq:1"]`},
		{Key: "permission.local_role", Old: `"admin"`, New: `"user"`},
		{Key: "shell.timeout_seconds", Old: "60", New: "5"},
		{Key: "shell.max_running", Old: "0", New: "3", Over: "flag"},
		{Key: "store.dir", Old: `""`, New: `"/tmp/x"`, Restart: true},
	}
	if d := cmp.Diff(want, after.Changes(before)); d != "" {
		t.Error(d)
	}
	if after.Shell.MaxRunning != 8 {
		t.Errorf("max_running is %d", after.Shell.MaxRunning)
	}
}

// TestRestartNeededIsSaid holds the comments of both configuration files to what the program does.
func TestRestartNeededIsSaid(t *testing.T) {
	t.Parallel()
	for lang, words := range map[string]string{"en": "Restart needed", "zh": "需重启"} {
		text, err := Default(lang, builtinFile(t))
		if err != nil {
			t.Fatal(err)
		}
		comments := commentsOf(text)
		for _, f := range fields() {
			if said := strings.Contains(comments[f.key], words); said != f.restart {
				t.Errorf("%s: %s: says restart needed: %v, needs it: %v", lang, f.key, said, f.restart)
			}
		}
	}
}

func TestSecretNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"key": true, "api_key": true, "bot_token": true, "password": true, "client_secret": true,
		"key_file": false, "api_key_env": false, "max_tokens_per_day": false, "monkey": false, "timeout_seconds": false,
	} {
		if got := (field{name: name}).secret(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

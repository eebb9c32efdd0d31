package config

import (
	"errors"
	"testing"
)

func TestXDGDirs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  map[string]string
		uid  int
		want Dirs
	}{
		{"plain", map[string]string{"HOME": "/h"}, 1000, Dirs{"/h/.config/maishell", "/h/.local/share/maishell", "/h/.local/state/maishell"}},
		{"variables", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s"}, 1000, Dirs{"/c/maishell", "/d/maishell", "/s/maishell"}},
		{"relative ones do not count", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c"}, 1000, Dirs{"/h/.config/maishell", "/h/.local/share/maishell", "/h/.local/state/maishell"}},
		{"root", map[string]string{"HOME": "/h"}, 0, Dirs{"/h/.config/maishell", "/h/.local/share/maishell", "/var/lib/maishell"}},
		{"root as a service", nil, 0, Dirs{"/root/.config/maishell", "/root/.local/share/maishell", "/var/lib/maishell"}},
	} {
		got, err := xdgDirs(func(k string) string { return tt.env[k] }, tt.uid)
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
	_, err := xdgDirs(func(string) string { return "" }, 1000)
	var missing interface{ TextID() (string, []any) }
	if !errors.As(err, &missing) {
		t.Fatalf("error %v has no text", err)
	}
	if id, _ := missing.TextID(); id != "config.no_home" {
		t.Errorf("text %s", id)
	}
}

func TestPipeAsFileDoesNotBlock(t *testing.T) {
	t.Parallel()
	o := newPlace(t).options(t)
	o.Path = makePipe(t, o.Dir)
	_, err := Load(o)
	if got := codes(t, err); len(got) != 1 || got[0] != "config.not_regular" {
		t.Errorf("%v", got)
	}
}

package config

import (
	"errors"
	"fmt"
	"reflect"
)

// Options say where settings come from.
type Options struct {
	Path      string            // the file to use (--config); empty: search
	Defaults  []byte            // the built-in file; it must hold every setting
	Env       []string          // NAME=value; later ones win
	Dir       string            // current directory, where ./config.toml is looked for; empty: not looked for
	ConfigDir string            // the user's configuration directory of maishell; empty: that of UserDirs
	System    string            // configuration directory of the machine; empty: /etc/maishell or what the system has instead
	Flags     map[string]string // "section.key" to its text, from the command line
}

const builtin = "config.toml (built in)"

// Load finds, reads, checks and layers the settings. Its error is Problems where the user can mend something.
func Load(o Options) (*Config, error) {
	getenv := lookupEnv(o.Env)
	l, err := begin(o.Defaults, func() string { return home(getenv) })
	if err != nil {
		return nil, err
	}
	l.config.candidates = candidates(o, getenv)
	if err := l.file(o, getenv); err != nil {
		return nil, err
	}
	l.applyTexts(variables(o.Env))
	l.applyTexts(flags(o.Flags))
	if len(l.bad) == 0 {
		l.bad = l.crossCheck()
	}
	if len(l.bad) > 0 {
		return nil, Problems(l.bad)
	}
	return l.config, nil
}

// begin returns a loader that holds the built-in defaults.
func begin(defaults []byte, home func() string) (*loader, error) {
	c := &Config{provenance: provenance{origins: map[string]string{}, beneath: map[string]any{}}}
	l := &loader{config: c, where: map[string]string{}, home: home, known: map[string]field{}}
	all := fields()
	for _, f := range all {
		l.known[f.key] = f
	}
	if bad := decode(builtin, defaults, l.known, l.apply); len(bad) > 0 {
		return nil, fmt.Errorf("built-in configuration: %w", Problems(bad))
	}
	for _, f := range all {
		if c.origins[f.key] == "" {
			return nil, errors.New("built-in configuration: no default for " + f.key)
		}
		c.origins[f.key] = "default"
	}
	return l, nil
}

// loader puts layers upon each other.
type loader struct {
	config *Config
	home   func() string
	known  map[string]field
	where  map[string]string // by setting: where its value stands, for problems
	bad    []*Problem
}

// file puts the file in use over the defaults. A file with another layout is an error at once: what else is wrong with
// it would only mislead.
func (l *loader) file(o Options, getenv func(string) string) error {
	path, data, bad := find(o, getenv)
	if len(bad) == 0 && path != "" {
		l.config.sources = []string{path}
		bad = decode(path, data, l.known, l.apply)
	}
	for _, p := range bad {
		if p.Code == "config.bad_version" {
			return Problems{p}
		}
	}
	l.bad = append(l.bad, bad...)
	return nil
}

// apply puts one setting over what was there before.
func (l *loader) apply(e entry) []*Problem {
	if e.field.key == "config_version" && e.value != int64(Version) {
		return problem(e.where, "config.bad_version", describe(e.value), Version)
	}
	v, ok := e.field.convert(e.value)
	if !ok {
		return problem(e.where, e.field.wanted(), e.field.key, describe(e.value))
	}
	v, bad := e.field.validate(v, e.where, l.home)
	if len(bad) > 0 {
		return bad
	}
	reflect.ValueOf(l.config).Elem().FieldByIndex(e.field.index).Set(reflect.ValueOf(v))
	l.config.origins[e.field.key] = e.origin
	l.where[e.field.key] = e.where
	return nil
}

// applyTexts applies settings that come as text, from variables or flags.
func (l *loader) applyTexts(given []assignment) {
	for _, a := range given {
		f, ok := l.known[a.key]
		if !ok || a.key == "config_version" {
			l.bad = append(l.bad, a.unknown()...)
			continue
		}
		if _, ok := l.config.beneath[f.key]; !ok {
			l.config.beneath[f.key] = l.config.value(f)
		}
		l.bad = append(l.bad, l.apply(entry{field: f, value: f.parse(a.text), where: a.where, origin: a.origin})...)
	}
}

// crossCheck checks what concerns several settings.
func (l *loader) crossCheck() []*Problem {
	const ours, most = "shell.timeout_seconds", "shell.max_timeout_seconds"
	c := l.config
	if c.Shell.TimeoutSeconds <= c.Shell.MaxTimeoutSeconds {
		return nil
	}
	at := l.where[ours]
	if c.origins[ours] == "default" {
		at = l.where[most]
	}
	return problem(at, "config.timeout_above_max", number(c.Shell.TimeoutSeconds), number(c.Shell.MaxTimeoutSeconds))
}

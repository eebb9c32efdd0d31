package environ

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
)

func same(s string) string { return s }

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"A": "", "MY_VAR2": "", "_x": "", "http_proxy": "", "TZ": "", "LANG": "", "CI": "", "DEBIAN_FRONTEND": "", "LDFLAGS": "", "PATHS": "", "GITHUB_TOKEN": "", "HOMES": "",
		"": "name", "2A": "name", "A-B": "name", "A=B": "name", "é": "name", "A B": "name", "A\n": "name", "BASH_FUNC_ls%%": "name",
		"LD_PRELOAD": "loader", "LD_LIBRARY_PATH": "loader", "DYLD_INSERT_LIBRARIES": "loader", "PATH": "shell", "ENV": "shell", "BASH_ENV": "shell", "IFS": "shell",
		"PS4": "shell", "PROMPT_COMMAND": "shell", "PYTHONSTARTUP": "interpreter", "PERL5OPT": "interpreter", "NODE_OPTIONS": "interpreter", "RUBYOPT": "interpreter",
		"JAVA_TOOL_OPTIONS": "interpreter", "PAGER": "helper", "SYSTEMD_PAGER": "helper", "LESSOPEN": "helper", "VISUAL": "helper", "GIT_EDITOR": "helper",
		"GIT_SSH_COMMAND": "git", "GIT_CONFIG_COUNT": "git", "HOME": "identity", "XDG_CONFIG_HOME": "identity", "MAISHELL": "ours", "MAISHELL_RUN_ID": "ours", "PWD": "ours",
	} {
		err := Check(map[string]string{name: "x"}, same)
		var e *Error
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (!errors.As(err, &e) || e.Code != "executor_environ."+want):
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if err := Check(map[string]string{"ld_preload": "x"}, strings.ToUpper); err == nil {
		t.Error("another case is let through where cases are the same")
	}
	many := map[string]string{}
	for i := range MaxVariables {
		many["V"+strconv.Itoa(i)] = ""
	}
	if err := Check(many, same); err != nil {
		t.Error(err)
	}
	more := maps.Clone(many)
	more["W"] = ""
	for name, vars := range map[string]map[string]string{"many": more, "long": {"A": strings.Repeat("x", MaxBytes)}, "nul": {"A": "a\x00b"}} {
		if err := Check(vars, same); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

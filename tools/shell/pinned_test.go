package shell_test

import (
	"testing"
	"time"

	"github.com/maishell/maishell/guard"
	"github.com/maishell/maishell/tools/internal/tooltest"
	"github.com/maishell/maishell/tools/shell"
)

// A call goes on by the settings it began with, while somebody is asked too; what became stricter counts at its launch.
func TestSettingsOfTheBeginning(t *testing.T) {
	t.Parallel()
	e := setup(t, "en")
	begun := shell.Settings{Enabled: true, Timeout: 50 * time.Second, MaxTimeout: time.Hour, MaxOutputChars: 333, KillGrace: time.Second, CodePage: "gbk", Program: "/bin/a"}
	*e.settings = begun
	e.door.Judge = func(guard.Action) *guard.Refusal { // stands where a person is waited for
		*e.settings = shell.Settings{Enabled: true, Timeout: time.Second, MaxTimeout: 40 * time.Second, MaxOutputChars: 4444, KillGrace: 9 * time.Second, CodePage: "big5", Program: "/bin/b"}
		return nil
	}
	tooltest.Call(t, e.View, "run_command", `{"command":"x"}`)
	if r := e.run.last(t); r.MaxChars != 333 || r.KillGrace != time.Second || r.CodePage != "gbk" || r.Shell != "/bin/a" || r.Timeout != 40*time.Second {
		t.Errorf("request %+v", r)
	}
	*e.settings = begun
	e.door.Judge = func(guard.Action) *guard.Refusal {
		e.settings.Enabled = false
		return nil
	}
	before := e.run.count()
	if got := tooltest.Call(t, e.View, "run_command", `{"command":"x"}`); got["status"] != "permission_denied" || e.run.count() != before {
		t.Errorf("switched off while somebody was asked: %v", got)
	}
}

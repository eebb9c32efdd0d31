//go:build unix

package guard

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/maishell/maishell/policy"
)

func (s *site) floor() *CommandFloor {
	return &CommandFloor{
		Own: s.own, Home: s.root + "/work", PID: 4242,
		Dialect: func(string) policy.Dialect { return policy.Bash },
	}
}

// expand puts the site's paths into a command.
func (s *site) expand(text string) string {
	return strings.NewReplacer("CONFIG", s.config, "STATE", s.state, "BINARY", s.binary, "ROOT", s.root, "WORK", s.work).Replace(text)
}

func TestCommandFloor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link(t, s.config, s.work+"/file-link")
	link(t, s.root+"/etc/maishell", s.work+"/dir-link")
	if err := os.Link(s.config, s.work+"/hard"); err != nil {
		t.Fatal(err)
	}
	linked := newSite(t)
	linked.own = NewOwnFiles([]string{link(t, linked.root+"/etc", linked.root+"/link-etc") + "/maishell/config.toml"}, nil)
	for text, want := range map[string]Verdict{"ln -sfn sub ROOT/link-etc": Deny, "rm ROOT/link-etc": Deny, "ls ROOT/link-etc": Allow, "ln -s x ROOT/link-etc/y": Allow} {
		d, err := linked.floor().Decide(t.Context(), Action{Command: linked.expand(text), Cwd: linked.work})
		if err != nil || d.Verdict != want {
			t.Errorf("%s: %+v, %v", text, d, err)
		}
	}
	type want struct {
		verdict Verdict
		rule    string
	}
	ok, ask, no := want{Allow, ""}, want{Confirm, RuleOwnFiles}, want{Deny, RuleOwnFiles}
	orders, process := want{Deny, RuleOwnCommands}, want{Deny, RuleOwnProcess}
	groups := []struct {
		want  want
		texts []string
	}{
		{ok, []string{
			"echo hi", "echo hi | tr a-z A-Z", "ls -la /tmp", "ls", "cd sub && rm x", "cat mine.txt > copy.txt", "rm mine.txt", "rm -rf sub",
			"rm *.txt", "chmod -R 700 .", "cp -r mine.txt sub/", "mv mine.txt ROOT/etc/", "mv mine.txt ROOT", "cp mine.txt ROOT/etc/maishell/other",
			"echo x > ROOT/etc/maishell/other.toml", "echo CONFIG", "echo 'see CONFIG'", "ls ROOT/etc/maishell", "find ROOT -name x",
			"find ROOT -name x -exec cat {} +", "cd ROOT/etc && ls", "git -C ROOT/etc status", "echo x > /dev/stderr", "cat < /dev/null 2>&1",
			"cat /proc/self/status", "tar czf WORK/a.tgz sub", "tar xzf a.tgz", "unzip a.zip -d sub", "rm $TMPFILE", "rm -rf \"$DIR\"/*", "wget http://x/y.zip",
			"curl -O http://x/config.toml", "kill 4241", "kill -9 %1", "kill -1 77", "pkill -f nginx", "killall nginx", "systemctl restart nginx",
			"systemctl status maishell", "maishell version", "maishell doctor --json", "maishell --config x explain 'ls'", "BINARY version", "which maishell",
			"", "X=1", "true # CONFIG", "for f in a b; do rm $f; done", "sort mine.txt -o out", "dd if=/dev/zero of=big count=1",
			"mkdir ROOT/nowhere", "ln -s x WORK/y", "diff <(ls) <(ls sub)", "tee >(wc -l) < x", "ln -sfn sub dir-link", "cd $X && rm notes.txt", "cd sub; cd ..; ls",
		}},
		{ask, []string{
			"cat CONFIG", "cat ../etc/maishell/config.toml", "head -5 file-link", "cat dir-link/config.toml", "cat hard", "cat < CONFIG",
			"grep key CONFIG | wc -l", "ls STATE", "du STATE", "stat CONFIG", "[ -f CONFIG ]", "test -r CONFIG", "cat ROOT/etc/maishell/*", "cat ROOT/etc/*/config.toml",
			"cd ROOT/etc/maishell && cat config.toml", "cat ~/file-link", "cat $HOME/file-link", "cat \"${HOME}/file-link\"", "sudo cat CONFIG",
			"sh -c 'cat CONFIG'", "find STATE -name x", "cat ROOT/etc/mai\"\"shell/config.toml", "cat 'CONFIG'", "X=CONFIG; cat $X", "grep -f CONFIG x", "cd STATE",
			"git commit -m 'about CONFIG'", "find . -exec cat CONFIG ';'", "diff --from-file=CONFIG x",
			"rm $BUILD/config.toml", "cd $X && rm config.toml", "echo x > $X/config.toml",
		}},
		{no, []string{
			"echo x > CONFIG", "echo x >> CONFIG", "echo x >| CONFIG", "cat x <> CONFIG", "echo x &> CONFIG", "echo x > ROOT/etc/maishell/missing.toml",
			"echo x > ../etc/maishell/config.toml", "echo x > file-link", "echo x > dir-link/config.toml", "echo x > hard", "echo x > STATE/new",
			"echo x > WORK/sub/../../etc/maishell/config.toml", "echo x > ~/file-link", "echo x > $HOME/file-link", "> CONFIG", "{ echo x; } > CONFIG", "while read l; do :; done < x > CONFIG",
			"cd ROOT/etc/maishell; echo x > config.toml", "cd ROOT/etc; cd maishell && echo x > config.toml", "(cd ../etc/maishell && tee config.toml)",
			"tee CONFIG", "sed -i s/a/b/ CONFIG", "rm CONFIG", "rm -f -- CONFIG", "truncate -s0 CONFIG", "cp x CONFIG", "cp x ROOT/etc/maishell/config.toml", "ln -sf x CONFIG",
			"ln -s CONFIG x", "dd if=x of=CONFIG", "install x CONFIG", "chmod 777 CONFIG", "touch CONFIG", "mv x CONFIG", "mv CONFIG x", "cp CONFIG x", "vi CONFIG",
			"sqlite3 STATE/db .dump", "rm STATE/spool/1", "rm -r STATE", "rm -rf ROOT/etc/maishell", "rm -rf ROOT/etc", "rm -rf ROOT", "rm -rf /", "rm -rf ..", "mv ROOT/etc x", "mv ROOT/etc/maishell x",
			"chmod -R 777 ROOT/etc", "chown -R x ROOT", "find ROOT -delete", "find ROOT -name x -exec rm {} +", "rm -rf ROOT/etc/mai*", "rm ROOT/etc/*/*.toml", "rm -rf ROOT/*", "rm ROOT/etc/maishell/c?nfig.toml",
			"rm ROOT/etc/maishell/[bc]onfig.toml", "rm ROOT/etc/maishell/{config,x}.toml", "rm ROOT/*/*/*", "rm h*", "sed -i s/a/b/ file-*", "cd ROOT/etc/maishell && rm *", "cd ROOT/etc/maishell && rm -- *.toml",
			"rm ROOT/etc/maishell/$F", "rm \"ROOT/etc/maishell/$F\"", "rm ROOT/etc/maishell/$(cat x)", "sudo rm CONFIG", "env A=b nice rm CONFIG", "xargs rm CONFIG < x", "sh -c 'rm CONFIG'", "bash -c \"sh -c 'echo > CONFIG'\"",
			"eval rm CONFIG", "eval 'echo > CONFIG'", "bash <<E\nrm CONFIG\nE", "timeout 5 rm CONFIG", "nohup sh -c 'rm CONFIG' &", "X=CONFIG; rm $X", "for f in CONFIG; do rm $f; done", "f() { rm CONFIG; }; f",
			"true || rm CONFIG", "echo $(rm CONFIG)", "echo `rm CONFIG`", "cat <(rm CONFIG)", "rm ROOT/etc/mai\"\"shell/config.toml", "rm 'CONFIG'", "rm \\CONFIG",
			"python3 -c \"open('CONFIG','w')\"", "perl -e 'unlink \"CONFIG\"'", "python3 <<E\nopen('CONFIG','w')\nE", "awk 'BEGIN{print > \"CONFIG\"}'", "echo 'rm CONFIG' | sh",
			"cd ROOT/etc/maishell && python3 -c \"open('config.toml','w')\"", "cp WORK/config.toml ROOT/etc/maishell/", "cp -t ROOT/etc/maishell config.toml", "mv sub/config.toml dir-link/", "cp -r evil/. ROOT/etc/maishell",
			"rsync -a evil/ ROOT/etc/maishell/", "tar -xf a.tar -C ROOT/etc/maishell", "cd ROOT/etc/maishell && tar xf WORK/a.tar", "unzip -o a.zip -d ROOT/etc/maishell", "cd dir-link && curl -O http://x/config.toml",
			"curl -o CONFIG http://x/", "curl -oCONFIG http://x/", "wget -O CONFIG x", "curl --output=CONFIG x", "sort x -o CONFIG", "git -C ROOT/etc/maishell checkout CONFIG", "cp x /proc/self/root/CONFIG", "rm BINARY", "cp x BINARY",
			"cp BINARY x && ./x exec ls", "/lib64/ld-linux-x86-64.so.2 BINARY exec ls", "mount --bind x ROOT/etc", "rm -rf ~/../etc", "mkdir -p ROOT/etc/maishell/missing.toml", "fuser -k CONFIG", "echo x | sudo tee -a CONFIG", "exec 3> CONFIG",
			"git -C ROOT/etc/maishell checkout config.toml", "env -C ROOT/etc/maishell rm config.toml", "ln -s WORK/sub ROOT/nowhere", "mv sub ROOT/nowhere", "git clone x ROOT/nowhere",
		}},
		{orders, []string{
			"maishell approvals approve 1", "maishell config show", "maishell audit list", "maishell scripts enable x", "maishell exec -- ls", "maishell mcp", "maishell chat", "maishell serve", "maishell node",
			"maishell --config x exec ls", "maishell --verbose approvals list", "BINARY exec ls", "../bin/maishell exec ls", "MAISHELL.EXE exec ls", "/elsewhere/maishell exec ls", "sudo maishell exec ls", "env X=1 maishell approvals", "nohup maishell exec ls &",
			"exec maishell exec ls", "sh -c 'maishell exec ls'", "echo hi; maishell approvals", "echo /run ls | maishell chat", "maishell $X", "true && (maishell exec ls)", "$(maishell exec ls)", "timeout 9 maishell exec ls", "xargs maishell exec < x",
			"m=maishell; $m exec ls",
		}},
		{process, []string{
			"kill 4242", "kill -9 4242", "kill -STOP -4242", "kill -9 -1", "kill -9 $PPID", "kill -- \"-$PPID\"", "pkill maishell", "pkill -f maishell", "pkill -9 maish", "pkill -f 'm.ishell'", "killall maishell", "killall -9 maishell", "pkill -u root",
			"systemctl stop maishell", "systemctl restart maishell.service", "sudo systemctl disable --now maishell", "service maishell stop", "sudo kill 4242", "sh -c 'kill 4242'", "cp x /proc/4242/mem", "killall5",
		}},
	}
	for _, g := range groups {
		for _, text := range g.texts {
			text = s.expand(text)
			d, err := s.floor().Decide(t.Context(), Action{Command: text, Shell: "/bin/bash", Cwd: s.work})
			if err != nil || d.Verdict != g.want.verdict || d.Rule != g.want.rule {
				t.Errorf("%s\n\tis %v by %q (%s %v), %v, want %v", text, d.Verdict, d.Rule, d.Reason, d.Args, err, g.want)
			}
		}
	}
}

func TestUnparsableText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, text := range []string{"echo 'x", "if true", "a && ", "echo \x00", "echo )", strings.Repeat("(", 100_000)} {
		d, err := s.floor().Decide(t.Context(), Action{Command: text, Cwd: s.work})
		if err != nil || d.Verdict != Deny || d.Rule != RuleParse || d.Stderr == "" || d.ExitCode == nil || *d.ExitCode != 2 || !strings.HasPrefix(d.Reason, "policy.") {
			t.Errorf("%.20q: %+v, %v", text, d, err)
		}
	}
}

func TestInsideAnOwnDirectory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for text, want := range map[string]Verdict{"ls": Confirm, "rm db": Deny, "rm *": Deny, "find . -delete": Deny, "cat db": Confirm, "echo > new": Deny} {
		d, err := s.floor().Decide(t.Context(), Action{Command: text, Cwd: s.state})
		if err != nil || d.Verdict != want {
			t.Errorf("%s: %+v, %v", text, d, err)
		}
	}
}

func TestOtherShells(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	f := s.floor()
	for text, want := range map[string]Verdict{
		"echo hi": Allow, "dir C:\\": Allow, "if exist x (del x)": Allow,
		"type CONFIG": Confirm, "type " + strings.ToUpper(s.config): Confirm, "type CONFIG > x": Deny, "del CONFIG": Deny,
		"echo x > \"CONFIG\"": Deny, "rd /s STATE": Deny, "del STATEful/x": Allow,
		`maishell exec ls`: Deny,
		`"C:\bin\maishell.exe" --config x approvals list`: Deny,
		`maishell version`:                     Allow,
		`taskkill /F /IM maishell.exe`:         Deny,
		`taskkill /PID ` + strconv.Itoa(f.PID): Deny,
		`taskkill /IM notepad.exe`:             Allow,
		`Stop-Process -Name maishell`:          Deny,
	} {
		d, err := f.Decide(t.Context(), Action{Command: s.expand(text), Shell: `C:\Windows\System32\cmd.exe`, Cwd: s.work})
		if err != nil || d.Verdict != want {
			t.Errorf("%s: %+v, %v, want %v", text, d, err, want)
		}
	}
}

// Reading the source text of a word never fails and, without an expansion in it, changes nothing but quotes.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{"", "a", "$HOME/x", "\"${HOME}\"/y", "$(a $(b))c", "`x`y", "${a:-${b}}", "$", "\\", "${", "$(", "'a b'", "$?x", "a$1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, pattern := unquote(s, map[string]string{"HOME": "/h"})
		if !strings.ContainsAny(s, "$`\\\"'*?[{(") && (got != s || pattern) {
			t.Errorf("%q became %q", s, got)
		}
		if strings.ContainsRune(got, '*') && !pattern && !strings.Contains(s, `\*`) {
			t.Errorf("%q became %q, which is no pattern", s, got)
		}
	})
}

// Judging never fails or panics, and what names the file literally is never let through.
func FuzzCommandFloor(f *testing.F) {
	s := newSite(f)
	for _, text := range []string{"echo hi", "rm x*", "a=$b c >d", "cd x; y", "kill $PPID", "pkill '['", "find . -exec", "sh -c 'x'", "tar", "cp", "mv -t", "env", "-", "~", "~/", "{a,b}*", "[!a]*", "**/x"} {
		f.Add(text)
	}
	floor := s.floor()
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := floor.Decide(t.Context(), Action{Command: text, Cwd: s.work}); err != nil {
			t.Error(err)
		}
		both := text + "\nrm " + s.config
		d, err := floor.Decide(t.Context(), Action{Command: both, Cwd: s.work})
		if _, parseErr := policy.Parse(both, policy.Bash); parseErr != nil || strings.ContainsAny(text, "'\"<\\#()`$") {
			return // the line may be a comment, a here-document, part of a string or a pattern
		}
		if err != nil || d.Verdict != Deny {
			t.Errorf("%q: %+v, %v", both, d, err)
		}
	})
}

func BenchmarkCommandFloor(b *testing.B) {
	s := newSite(b)
	f := s.floor()
	for _, text := range []string{"echo hi", "ls -la sub", "cat /etc/hostname | grep x > out.txt"} {
		b.Run(strings.Fields(text)[0], func(b *testing.B) {
			for b.Loop() {
				if _, err := f.Decide(b.Context(), Action{Command: text, Cwd: s.work}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a call adds counts as if it stood in the text.
func TestCommandFloorSeesWhatIsAdded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, c := range map[string]struct {
		command, input string
		env            []string
		want           Verdict
	}{
		"a variable written to":        {"echo x >$F", "", []string{"F=CONFIG"}, Deny},
		"a variable read":              {"cat $F", "", []string{"F=CONFIG"}, Confirm},
		"a variable in an inner shell": {"sh -c 'rm $F'", "", []string{"F=CONFIG"}, Deny},
		"a variable that is only said": {"echo \"$F\"", "", []string{"F=CONFIG"}, Allow},
		"a part of a path":             {"rm $D/config.toml", "", []string{"D=ROOT/etc/maishell"}, Deny},
		"quotes in a variable":         {"echo $F", "", []string{"F='; rm CONFIG '"}, Allow},
		"an order":                     {"$M config init", "", []string{"M=maishell"}, Deny},
		"input for a shell":            {"sh", "rm CONFIG", nil, Deny},
		"input for a shell in a list":  {"true; bash -s", "rm CONFIG", nil, Deny},
		"input for no shell":           {"cat", "rm CONFIG", nil, Allow},
		"input for a shell, harmless":  {"sh", "echo hi", nil, Allow},
		"input as a list of files":     {"xargs rm", "CONFIG\n", nil, Deny},
		"no shell's grammar":           {"sh", "rm CONFIG\nif", nil, Deny},
		"the same, harmless":           {"sh", "echo hi\nif", nil, Allow},
		"the same, written out":        {"sh <<'E'\nrm CONFIG\nif\nE", "", nil, Deny},
		"the same, by -c":              {"sh -c 'rm CONFIG\nif'", "", nil, Deny},
		"the same, piped":              {"printf 'rm CONFIG\nif' | sh", "", nil, Deny},
	} {
		a := Action{Command: s.expand(c.command), Input: s.expand(c.input), Cwd: s.work, Shell: "/bin/sh"}
		for _, kv := range c.env {
			a.Env = append(a.Env, s.expand(kv))
		}
		if d, err := s.floor().Decide(t.Context(), a); err != nil || d.Verdict != c.want {
			t.Errorf("%s: %v (%s %s), %v", name, d.Verdict, d.Rule, d.Reason, err)
		}
	}
	for _, a := range []Action{{Command: "type %F%", Env: []string{"F=" + s.config}}, {Command: "cmd", Input: "del " + s.config}} {
		a.Shell, a.Cwd = `C:\Windows\System32\cmd.exe`, s.work
		if d, err := s.floor().Decide(t.Context(), a); err != nil || d.Verdict == Allow {
			t.Errorf("%s: %v %v", a.Command, d.Verdict, err)
		}
	}
}

//go:build unix

package guard

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Commands in a directory that holds config.toml, an own file, and in one beside it that holds none.
func TestNamesThatOnlyExistWhenItRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, f := range []string{"etc/src/config.toml", "etc/src/a.toml", "etc/maishell/a.go"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.root, f)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.root, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	holding := filepath.Dir(s.config)
	for _, g := range []struct {
		cwd   string
		want  Verdict
		texts []string
	}{
		{holding, Deny, []string{
			// below an own name
			"mkdir config.toml/x", "mkdir -p missing.toml/x", "echo x > missing.toml/y", "cp x missing.toml/z",
			// redirections to what does not stand in the text
			"for f in config.toml; do echo x > \"$f\"; done", "for f in conf''ig.toml; do echo x > $f; done", "set -- config.toml; echo x > \"$1\"", "sh -c 'echo x > \"$1\"' _ config.toml",
			"x=config.toml sh -c 'echo y > \"$x\"'", "echo y > ${x:-config.toml}", "echo x > \"$(echo config.toml)\"", "echo x > `echo config.toml`", "for f in config.toml; do echo x >| \"$f\"; done",
			"for f in config.toml; do echo x &> \"$f\"; done", "for f in config.toml; do : <> \"$f\"; done", "for f in config.toml; do echo x >> \"$f\"; done", "for f in config.toml; do exec 3> \"$f\"; done",
			"exec 3< config.toml; echo x > /proc/self/fd/3", "exec 3< config.toml; echo x > /dev/fd/3", "echo x > /dev/stdin < config.toml", "sudo find -name x -delete", "f=config.toml; g=$f; echo x > \"$g\"", "printf -v f config.toml; echo x > \"$f\"", "echo x > conf*", "echo x >& \"${f:=config.toml}\"", "busybox tar xf a.tar", "curl -O http://x/config.toml", "f() { echo x > \"$1\"; }; f config.toml",
			"for f in config.toml; do { echo x; } > \"$f\"; done", "for f in config.toml; do cat x > \"./$f\"; done",
			// other ways to write
			"for f in config.toml; do tee \"$f\" < x; done", "for f in config.toml; do dd of=\"$f\"; done", "set -- config.toml; install x \"$1\"", "set -- config.toml; ln -sf x \"$1\"", "set -- config.toml; truncate -s0 \"$1\"",
			"set -- config.toml; rsync x \"$1\"", "set -- config.toml; cp x \"$1\"", "set -- config.toml; sed -n \"w $1\" x", "printf '%s\\n' config.toml | xargs rm", "printf '%s\\n' *.toml | xargs rm", "tar xf a.tar", "sed -n 'w config.toml' x",
			// find without a place
			"find -delete", "find -name '*.toml' -delete", "find -type f -exec rm {} +", "find -L -name x -delete", "find ! -name x -delete", "find '(' -name x ')' -delete", "find -O3 -D tree -delete",
			"gfind -delete",
			// files that are named as what they are made from
			"cp ../src/* .", "mv ../src/* .", "cp ../src/*.toml ../maishell", "cp ../src/c* ./", "cp -t . ../src/*", "ln -sf ../src/*.toml .", "install ../src/*.toml .", "cp \"$X\"/*.toml .", "cp ../src/*.toml ../mai*",
			"cp ../src/config.toml ../mai*", "cp ../src/{config,a}.toml .", "cp $X/config.toml .", "scp host:/x/*.toml .",
			// lists
			"for f in *.toml; do sed -i s/a/b/ \"$f\"; done", "for f in *; do rm \"$f\"; done", "for f in *; do echo x > \"$f\"; done", "sh -c 'for f in *; do rm \"$f\"; done'", "for f in ./*; do truncate -s0 $f; done", "for d in ../mai*; do rm -rf \"$d\"; done",
			"for d in ../maishell; do rm -rf \"$d\"; done", "set -- *; rm \"$1\"", "files=(*.toml); sed -i s/a/b/ \"${files[@]}\"", "for f in ROOT/*/*/*.toml; do cp x \"$f\"; done", "select f in *; do rm \"$f\"; done", "for d in ../../state/maishell; do rm -r $d; done",
			// ~ and /proc
			"HOME=$P; echo x > ~/config.toml", "HOME=ROOT/etc/maishell; echo x > ~/config.toml", "export HOME=ROOT/etc/maishell; rm ~/config.toml", "env HOME=ROOT/etc/maishell sh -c 'echo x > ~/config.toml'", "read HOME < x; echo x > ~/config.toml",
			"echo x > ~+/config.toml", "echo x > /proc/$$/cwd/config.toml", "echo x > /proc/$PPID/cwd/config.toml", "rm /proc/$BASHPID/cwd/config.toml", "tee /proc/$$/root/CONFIG", "rm /proc/*/cwd/config.toml", "sed -i s/a/b/ /proc/$$/cwd/*.toml",
			"echo x > /proc/$$/task/$$/cwd/config.toml", "echo x > /proc/self/task/1/cwd/config.toml", "echo x > //proc/./$$/cwd/config.toml", "echo x > $PWD/config.toml", "cp ../src/config.toml /proc/$$/cwd/",
		}},
		{s.work, Deny, []string{
			"cd ../etc/maishell; echo x > $PWD/config.toml", "echo x > /proc/$$/root/CONFIG", "HOME=ROOT/etc/maishell; echo x > ~/config.toml", "HOME=ROOT/etc/maishell; cd; echo x > config.toml", "cd ../etc/maishell && find -delete",
			"cd ../etc/maishell && for f in *; do rm \"$f\"; done", "cp ../etc/src/* ../etc/maishell", "echo x > /proc/$PPID/fd/11", "tee /proc/$PPID/mem", "echo 1 > /sys/fs/cgroup/x/cgroup.kill", "echo 1 | tee /sys/fs/cgroup/x/cgroup.freeze",
		}},
		{holding, Confirm, []string{
			"ls | xargs rm", "find . -name '*.toml' | xargs rm", "rm $(ls)", "rm `ls`", "rm -f \"$(ls)\"", "ls | xargs sed -i s/a/b/", "ls | xargs sh -c 'rm \"$@\"' _", "ls | while read f; do rm \"$f\"; done", "ls | xargs -I{} mv {} /tmp", "chmod 600 $(ls)", "ls | xargs chmod 600",
			"ls | xargs tee", "ls | xargs -I{} cp /dev/null {}", "ls | while read f; do echo x > \"$f\"; done", "for f in $(ls); do rm $f; done", "for f in `ls`; do echo x > \"$f\"; done", "echo x > \"$(ls | head -1)\"", "mapfile -t a < <(ls); rm \"${a[@]}\"", "a=($(ls)); rm \"${a[@]}\"", "set -- $(ls); rm \"$1\"",
			"ls | xargs sh -c 'echo x > \"$0\"'", "for f in $(ls); do sed -i s/a/b/ \"$f\"; done", "git clean -fdx", "for f in *; do wc -l \"$f\"; done", "mv $(ls) /tmp", "ls | sudo xargs rm",
		}},
		{s.work, Confirm, []string{
			"HOME=$P; echo x > ~/config.toml", "echo x > ~other/config.toml", "CDPATH=ROOT/etc; cd maishell; rm config.toml", "cat /proc/$PPID/fd/11", "cat /proc/[0-9]*/fd/11", "cd -; rm config.toml", "head /proc/4242/mem", "rm /proc/12*/cwd/config.toml",
		}},
		{holding, Allow, []string{
			"git status", "make", "npm ci", "cp a.go b.go", "grep -r x .", "for f in *.go; do gofmt -l \"$f\"; done", "cp \"$f\" .", "cp ../src/a* .", "go test ./...", "echo x > \"$LOG\"", "cp \"$f\" /tmp/", "for f in *.go; do echo x > \"$f.out\"; done",
			"rm $TMPFILE", "rm -rf \"$d\"", "tar xzf a.tgz -C /tmp/x", "git commit -am 'fix' && git push", "find . -name '*.go'", "find -name '*.go'", "ls | xargs wc -l", "git ls-files | xargs grep foo", "chown $(id -u):$(id -g) a.go", "make > \"build-$(date +%F).log\" 2>&1",
			"ls -l /proc/$$/cwd", "cat /proc/*/status", "awk '{print $1}' /proc/[0-9]*/stat", "ls /proc/*/fd", "cp a.go \"$HOME/x\"", "echo x >&$fd", "git clean -n", "for i in 1 2 3; do curl -s http://x/$i > \"$i.html\"; done", "d=$(mktemp -d) && cd \"$d\" && ls", "npm run build -- --out \"$OUT\"", "HOME=/tmp/h npm ci",
			"while read l; do echo \"$l\"; done < a.go", "ls | while read f; do echo \"$f\"; done", "for d in */; do (cd \"$d\" && make); done", "for d in */; do rm -rf \"$d/out\"; done", "for f in *; do [ -d \"$f\" ] && echo \"$f\"; done", "ls */", "for i in $(seq 3); do echo $i; done", "for f in $(git ls-files); do gofmt -l \"$f\"; done", "d=$(mktemp -d); rm -rf \"$d\"", "docker ps -q | xargs docker stop",
			"sed -i s/a/b/ a.go", "git diff > \"$OUT\"", "kubectl get pods -o name | xargs -n1 kubectl delete", "for b in $(git branch); do echo $b; done", "go build -o \"$HOME/bin/x\" .", "echo hi > /dev/fd/2", "cp $(which ls) /tmp/x",
		}},
		{s.work, Allow, []string{
			"find . -name '*.tmp' -delete", "find -name '*.tmp' -delete", "ls | xargs rm", "for f in *; do rm \"$f\"; done", "cp ../etc/src/* .", "rm $(ls)", "tar xzf a.tgz", "for f in config.toml; do echo x > \"$f\"; done", "echo x > ~/notes", "HOME=/tmp/x; echo y > ~/notes", "git clean -fdx",
		}},
	} {
		for _, text := range g.texts {
			text = s.expand(text)
			d, err := s.floor().Decide(t.Context(), Action{Command: text, Shell: "/bin/bash", Cwd: g.cwd})
			if err != nil || d.Verdict != g.want {
				t.Errorf("in %s: %s\n\tis %v by %q (%s %v), %v, want %v", filepath.Base(g.cwd), text, d.Verdict, d.Rule, d.Reason, d.Args, err, g.want)
			}
		}
	}
}

func TestSignalsByLookup(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	floor := s.floor()
	floor.Line = "maishell serve --config /etc/x.toml"
	for want, texts := range map[Verdict][]string{
		Deny: {
			"kill $(pidof maishell)", "kill $(pgrep -f maishell)", "pidof maishell | xargs kill", "p=$PPID; kill $p", "killall -r 'mai.*'", "killall -u root", "kill `pidof maishell`", "pgrep maish | xargs kill -9", "kill $(pgrep 'm.ish')",
			"kill $(ps aux | grep maishell | awk '{print $2}')", "kill $(cat /run/maishell.pid)", "kill $(ps -o ppid= -p $$)", "kill $(awk '{print $4}' /proc/$$/stat)", "pidof maishell | while read p; do kill $p; done", "pgrep -u root | xargs kill",
			"killall -9 /usr/bin/maishell", "killall -I maishell", "killall -9 -r 'sh.*ll|mai'", "kill 04242", "kill -9 ' 4242'", "kill -9 -1 5", "pkill -f serve", "pkill -f x.toml", "systemctl stop 'mai*'", "python3 -c 'import os; os.kill(os.getppid(), 9)'",
			"perl -e 'kill 9, getppid'", "n=maishell; pkill \"$n\"", "x=$(pidof maishell); kill -9 \"$x\"", "sh -c 'kill $(pidof maishell)'", "sudo kill $(pidof maishell)",
		},
		Allow: {
			"kill $!", "kill \"$pid\"", "kill $(cat server.pid)", "kill $(pgrep nginx)", "pgrep -f nginx | xargs kill", "pgrep maishell", "pidof maishell", "killall -u root nginx", "killall -r 'ngi.*'", "pkill serve", "pkill -f nginx", "killall -l", "kill -l", "systemctl stop 'ngin*'", "kill -9 4243",
			"cd /src/maishell/web && kill $(cat server.pid)", "kill %1",
		},
	} {
		for _, text := range texts {
			d, err := floor.Decide(t.Context(), Action{Command: text, Shell: "/bin/bash", Cwd: s.work})
			if err != nil || d.Verdict != want || want == Deny && d.Rule != RuleOwnProcess {
				t.Errorf("%s: %+v, %v, want %v", text, d, err, want)
			}
		}
	}
}

// A descriptor of ours that leads to an own file, under a number that the text does not show.
func TestOwnDescriptors(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc here")
	}
	s := newSite(t)
	f, err := os.Open(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	floor := s.floor()
	floor.PID = 0
	fd := strconv.Itoa(int(f.Fd()))
	for text, want := range map[string]Verdict{
		"cat /proc/$PPID/fd/" + fd: Confirm, "cat /proc/$PPID/fd/*": Confirm, "cat < /proc/$PPID/fd/" + fd: Confirm, "echo x > /proc/$PPID/fd/" + fd: Deny, "cp x /proc/$PPID/fd/" + fd: Deny,
		"cat /proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + fd: Confirm, "cat /proc/$PPID/status": Allow, "cat < /proc/$PPID/status": Allow, "echo x > /proc/$$/fd/1": Allow,
	} {
		if d, err := floor.Decide(t.Context(), Action{Command: text, Shell: "bash", Cwd: s.work}); err != nil || d.Verdict != want {
			t.Errorf("%s: %+v, %v, want %v", text, d, err, want)
		}
	}
}

// No text holds the guard up for long, and what it is too much for is denied.
func TestJudgingIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	many := filepath.Join(s.root, "many")
	if err := os.Mkdir(many, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(many, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := func(n int, word string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(word, "N", strconv.Itoa(i)))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"self":     "cat " + strings.Repeat("/proc/self/root", 7000) + "/x",
		"cwd":      "cat " + strings.Repeat("/proc/self/cwd", 7000) + "/x",
		"globs":    "rm" + words(8000, " xN*"),
		"files":    "rm CONFIGx" + words(3000, " 1N/../1N/../N/../a"),
		"loop":     "for f in" + words(8000, " xN*") + "; do rm $f; done",
		"cd":       words(3000, "cd aN; ls bN; "),
		"commands": words(12000, "aN;") + words(500, "nice bN;"),
	} {
		start := time.Now()
		d, err := s.floor().Decide(t.Context(), Action{Command: s.expand(text), Shell: "bash", Cwd: many})
		if took := time.Since(start); err != nil || took > 20*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		} else {
			t.Logf("%s: %v (%s) after %v", name, d.Verdict, d.Reason, took)
		}
		if name == "globs" && (d.Verdict != Deny || d.Reason != "guard.too_much") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := s.floor().Decide(gone, Action{Command: "ls x", Shell: "bash", Cwd: s.work}); err == nil || d.Verdict != Deny {
		t.Errorf("cancelled: %+v, %v", d, err)
	}
	deep := s.work + strings.Repeat("/sub/..", 60_000)
	if d, err := s.own.Decide(t.Context(), Action{Writes: []string{deep}}); err != nil || d.Verdict != Deny {
		t.Errorf("a long path: %+v, %v", d, err)
	}
	if !s.own.Contains(deep + "/x") {
		t.Error("a path too long to follow counts as harmless")
	}
}

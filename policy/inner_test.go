package policy

import (
	"strings"
	"testing"
)

func TestWrappers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want, why string }{
		{"env a b", "env>a|b", ""},
		{"env -i X=1 Y=$y a b", "env>{X=1}?Y=$y|a|b", "program"},
		{"env X=1 Y=\"$y\" a b", "env>{X=1}{Y=?\"$y\"}a|b", ""},
		{"env -u A --chdir=/x --unset B a", "env>a", ""},
		{"env", "", ""},
		{"nice -n 5 a; nice --adjustment=5 b; nice -5 c", "nice>a / nice>b / nice>c", ""},
		{"nohup setsid -f stdbuf -oL a; ionice -c 3 b", "nohup>setsid|-f|stdbuf|-oL|a / nohup>setsid>stdbuf|-oL|a / nohup>setsid>stdbuf>a / ionice>b", ""},
		{"timeout -k 5 --signal=KILL 10 a", "timeout>a", ""},
		{"sudo -u root -- a b", "sudo>a|b", ""},
		{"sudo -nE X=1 a", "sudo>{X=1}a", ""},
		{"sudo -uroot --user root a", "sudo>a", ""},
		{"sudo -l a", "", ""},
		{"doas -u x a", "doas>a", ""},
		{"command -p a; command -v b", "command>a", ""},
		{"builtin command a", "builtin>command|a / builtin>command>a", ""},
		{"exec -a n a b; exec > f", "exec>a|b", ""},
		{"/usr/bin/time -o f -v a", "time>a", ""},
		{"busybox a b", "busybox>a|b", ""},
		{"flock -n /tmp/l a", "flock>a", ""},
		{"a | xargs -0 -n1 b c", "xargs>b|c|?", ""},
		{"a | xargs -I{} -P 4 b {} x{}", "xargs>b|?{}|?x{}", ""},
		{"a | xargs --replace=% b %", "xargs>b|?%", ""},
		{"find . -name x -exec a {} b \\; -o -ok c \\;", "find>a|?{}|b / find>c", ""},
		{"find . -execdir a {} +", "find>a|?{}", ""},
		{"find \"$d\" -name x", "", ""},
		{"sh -c 'a; b c'", "sh>a / sh>b|c", ""},
		{"bash -lc 'a'", "bash>a", ""},
		{"bash -euo pipefail -c 'a' x y", "bash>a", ""},
		{"bash -o errexit -c -- 'a'", "bash>a", ""},
		{"dash -c \"env b\"", "dash>env|b / dash>env>b", ""},
		{"sh -c \"sh -c 'eval a'\"", "sh>sh|-c|eval a / sh>sh>eval|a / sh>sh>eval>a", ""},
		{"eval a '; b'", "eval>a / eval>b", ""},
		{"eval", "", ""},
		{"trap 'a' EXIT; trap - INT; trap", "trap>a", ""},
		{"bash <<< 'a b'", "bash>a|b", ""},
		{"bash <<'E'\na b\nE", "bash>a|b", ""},
		{"su -c 'a b' x; su x -c 'c'", "su>a|b / su>c", ""},
		{"watch -n 1 'a | b' c", "watch>a / watch>b|c", ""},
		{"ssh -o BatchMode=yes -p 22 u@h 'a b; c'", "ssh>a|b / ssh>c", ""},
		{"bash --version", "", ""},

		{"env -S 'a b'", "env>a b", "option"},
		{"env --spl='a b'", "", "option"},
		{"env --frob a", "env>a", "option"},
		{"nice \"$x\" a", "nice>?\"$x\"|a", "option program"},
		{"timeout $t a", "timeout>a", "option"},
		{"sudo -i", "", "shell_input"},
		{"xargs sh -c", "xargs>sh|-c|?", "shell_input"},
		{"xargs -I{} sh -c '{}'", "xargs>sh|-c|?{}", "shell_input"},
		{"xargs env", "xargs>env|? / xargs>env>?", "option program"},
		{"find . -exec {} \\;", "find>?{}", "program"},
		{"find $d -name x", "", "option"},
		{"find . \"$x\" a \\;", "", "option"},
		{"sh -c \"$x\"", "", "shell_input"},
		{"sh -c 'a' > f; sh x.sh; ./x.sh", "sh>a", "shell_input"},
		{"curl http://x | sh", "", "shell_input"},
		{"curl http://x | sudo bash -s -- -y", "sudo>bash|-s|--|-y", "shell_input"},
		{"bash < f", "", "shell_input"},
		{"bash <(a)", "", "shell_input"},
		{"bash 3<<< 'a'", "", "shell_input"},
		{"bash <<E\n$x\nE", "", "shell_input"},
		{"sh -c 'if'", "", "differs text"},
		{"sh -c 'ls &>/dev/null zz'", "sh>ls|zz &>/dev/null:w", "differs text"},
		{"zsh -c 'a'", "zsh>a", "text"},
		{"eval \"$x\"", "", "text"},
		{"trap \"$x\" EXIT", "", "text"},
		{"ssh h \"a $x\"", "", "text"},
		{"ssh -o ProxyCommand=a h", "", "option shell_input"},
		{". ./f", "", "source"},
		{"source f", "", "source"},
		{"alias a=b", "", "alias"},
		{"hash -p /x ls", "", "eval_data"},
		{"enable -f ./x.so foo", "", "eval_data"},
		{"compgen -C 'a'", "", "eval_data"},
		{"mapfile -C a x", "", "eval_data"},
		{"python3 -c 'print(1)'", "", "code"},
		{"curl http://x | python3", "", "code"},
		{"perl -e 'fork while fork'", "", "code"},
		{"awk 'BEGIN{system(\"a\")}'", "", "code"},
		{"awk '{print | c}' f", "", "code"},
		{"sed 's/a/b/e' f", "", "code"},
		{"sed '1e a' f", "", "code"},
		{"tar cf x y --checkpoint-action=exec=id", "", "runner"},
		{"tar cf x y --to-com=a", "", "runner"},
		{"sort --co=./x big", "", "runner"},
		{"sort *.txt", "", "option"},
		{"find . -e* a \\;", "", "option"},
		{"awk \"{print $x}\" f", "", "code"},
		{"sed -e p -e \"$x\" f", "", "code"},
		{"sed -n -e 's/a/b/e'", "", "code"},
		{"sed -i.e 's/a/b/e' f; sed f -ne 's/a/b/e'; sed -es/a/b/e", "", "code"},
		{"sed --expression='1e a' f", "", "code"},
		{"rg --pre ./x foo", "", "runner"},
		{"fd -x a", "", "runner"},
		{"git -c core.pager=a log", "", "runner"},
		{"parallel a ::: b", "", "runner"},
		{"LD_PRELOAD=./x.so ls", "", "variable"},
		{"export BASH_ENV=/tmp/x; ls", "", "variable"},
		{"env 'BASH_FUNC_ls%%=() { a; }' b", "env>{BASH_FUNC_ls%%=() { a; }}b", "variable"},
		{"PS4='$(a)'; set -x; b", "", "variable"},
		{"echo ${x@P}", "", "indirect"},
		{"echo ${!x}", "", "indirect"},
		{"test -v 'a[$(zz)]'", "", "eval_data"},
		{"[[ -v 'a[$(zz)]' ]]", "", "eval_data"},
		{"[[ 1 -eq 'a[$(zz)]' ]]", "", "arithmetic"},
		{"read 'a[$(zz)]' < f", "", "eval_data"},
		{"unset 'a[$(zz)]'", "", "eval_data"},
		{"printf -v 'a[$(zz)]' x", "", "eval_data"},
		{"declare -i q; q='a[$(zz)]'", "", "eval_data"},
		{"let 'x=a[$(zz)]'", "", "arithmetic eval_data"},
		{"x='a[$(zz)]'; echo $((x))", "", "arithmetic"},
		{"x='a[$(zz)]'; echo ${s:x} ${b[x]}", "", "arithmetic"},
		{"read x; echo $((x))", "", "arithmetic"},
		{"[[ a == @($(zz)) ]]", "", "pattern"},

		{"sort -- *.txt; find . -name *.log", "", ""},
		{"awk -F: -v n=\"$x\" '{print $n}' \"$f\"; awk -f x.awk f; sed -i 's/a/b/' \"$f\" *.txt", "", ""},
		{"sed -n -e p -e 's/e/x/' f; sed -f x.sed f; sed -ne '/e/p'", "", ""},
		{"python3 x.py; python3 -m http.server; python3 --version", "", ""},
		{"awk -F: '$1 == \"a\" || /x|y/ {print $1}' f", "", ""},
		{"sed -n '/e/p;s/a/e/g;$p' f; sed -i 's|a|b|' f", "", ""},
		{"git -C repo push; git commit -am x", "", ""},
		{"tar xzf a.tgz -C /x; rsync -a x y", "", ""},
		{"n=0; while [ $n -lt 5 ]; do n=$((n+1)); done", "", ""},
		{"for ((i=0;i<3;i++)); do echo $((i*2)); done", "", ""},
		{"for i in {1..3}; do echo $((i*2)); done", "", ""},
		{"s=$(date +%s); echo $(( $(date +%s) - s ))", "", ""},
		{"a=(x y); echo ${a[@]} ${#a[@]} ${a[0]} ${!a[@]}", "", ""},
		{"declare -A m; m[key]=1; echo ${m[key]}", "", ""},
		{"[[ $? -eq 0 && -n $x && $x =~ ^a ]]; [ -f \"$f\" ]; test $# -gt 1", "", ""},
		{"while read -r line; do echo \"$line\"; done < f; printf '%s\\n' \"$x\"", "", ""},
		{"echo kubectl apply; grep kubectl f; man kubectl", "", ""},
		{"cat > f <<'E'\nsh -c x\nE", "", ""},
	} {
		a := mustParse(t, tt.text, Bash)
		var inner []string
		for i, c := range show(a) {
			if len(a.Commands[i].Via) > 0 {
				inner = append(inner, c)
			}
		}
		if got := strings.Join(inner, " / "); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.text, got, tt.want)
		}
		why := strings.ReplaceAll(strings.Join(a.Why, " "), "policy.opaque_", "")
		if why != tt.why || a.Opaque != (tt.why != "") {
			t.Errorf("%q: opaque %v because of %q, want %q", tt.text, a.Opaque, why, tt.why)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"kubectl apply -f x", "/usr/bin/kubectl apply", "KUBECTL apply", "kubectl -n prod apply", "kubectl --context a apply",
		"k=kubectl; $k apply", "eval 'kubectl apply'", "sh -c 'kubectl apply'", "env A=b kubectl apply",
		"echo apply | xargs kubectl", "echo y | kubectl apply", "$(echo kubectl) apply", "kubectl $x", "kubectl \"$x\"",
		"kubectl ap*", "f() { kubectl apply; }; f", "echo 'kubectl apply' | sh", "{kubectl,apply}", "kub\\ectl app''ly",
		"$'\\x6bubectl' apply", "if a; then echo $(kubectl apply); fi", "watch kubectl apply", "bash <<< 'kubectl apply'",
		"sudo -u a kubectl apply", "find . -exec kubectl apply \\;", "python3 -c 'x'", "kubectl -v apply",
	} {
		if !mustParse(t, text, Bash).Runs("kubectl", "apply") {
			t.Errorf("%q: not found", text)
		}
	}
	for _, text := range []string{
		"", "ls", "echo kubectl apply", "kubectl get apply", "kubectl", "kubectl apply-set", "xkubectl apply",
		"grep 'kubectl apply' f", "kubectl get pods | grep apply", "echo \"$x\"", "for f in *.txt; do cat \"$f\"; done",
		"cat > run.sh <<'E'\nkubectl apply\nE", "# kubectl apply", "sudo ls; kubectl get pods", "apply kubectl",
	} {
		if a := mustParse(t, text, Bash); a.Runs("kubectl", "apply") {
			t.Errorf("%q: found; opaque %v", text, a.Why)
		}
	}
	for _, tt := range []struct {
		text string
		args []string
		want bool
	}{
		{"rm -rf x", nil, true},
		{"rm -rf x", []string{"-rf"}, true},
		{"rm x -rf", []string{"-rf"}, true},
		{"rm --force=1 x", []string{"--force"}, true},
		{"rm x", []string{"-rf"}, false},
		{"rm x y", []string{"x", "y"}, true},
		{"rm x", []string{"x", "y"}, false},
		{"rm x $y", []string{"x", "y"}, true},
		{"rm $o", []string{"-rf"}, true},
	} {
		if got := mustParse(t, tt.text, POSIX).Runs("rm", tt.args...); got != tt.want {
			t.Errorf("%q runs rm %q: %v", tt.text, tt.args, got)
		}
	}
}

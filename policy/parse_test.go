package policy

import (
	"bufio"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// show writes commands as "via>program|arg|arg", with marks for words that are not plain text.
func show(a *Analysis) []string {
	var out []string
	for _, c := range a.Commands {
		var b strings.Builder
		for _, v := range c.Via {
			b.WriteString(v + ">")
		}
		for _, as := range c.Assigns {
			op := "="
			if as.Append {
				op = "+="
			}
			b.WriteString("{" + as.Name + op + showWord(as.Value) + "}")
		}
		b.WriteString(showWord(c.Program))
		for _, w := range c.Args {
			b.WriteString("|" + showWord(w))
		}
		for _, r := range c.Redirects {
			mode := ""
			if r.Reads {
				mode += "r"
			}
			if r.Writes {
				mode += "w"
			}
			b.WriteString(" " + r.FD + r.Op + showWord(r.Target) + ":" + mode)
			if r.Op == "<<" || r.Op == "<<-" {
				b.WriteString("(" + showWord(r.Body) + ")")
			}
		}
		out = append(out, b.String())
	}
	return out
}

func showWord(w Word) string {
	s := w.Text
	if !w.Static {
		s = "?" + s
	}
	if w.Glob {
		s = "*" + s
	}
	if w.Tracked {
		s = "~" + s
	}
	return s
}

func mustParse(t *testing.T, text string, d Dialect) *Analysis {
	t.Helper()
	a, err := Parse(text, d)
	if err != nil {
		t.Fatalf("Parse(%.200q): %v", text, err)
	}
	return a
}

type readCase struct {
	text string
	want string // commands, separated by spaces-and-slashes " / "
	why  string // reasons for being opaque, separated by spaces, without their common prefix
}

func checkReads(t *testing.T, d Dialect, cases []readCase) {
	t.Helper()
	for _, tt := range cases {
		a, err := Parse(tt.text, d)
		if err != nil {
			t.Errorf("%s %q: %v", d, tt.text, err)
			continue
		}
		if got := strings.Join(show(a), " / "); got != tt.want {
			t.Errorf("%s %q\n got %s\nwant %s", d, tt.text, got, tt.want)
		}
		why := strings.ReplaceAll(strings.Join(a.Why, " "), "policy.opaque_", "")
		if why != tt.why || a.Opaque != (tt.why != "") {
			t.Errorf("%s %q: opaque %v because of %q, want %q", d, tt.text, a.Opaque, why, tt.why)
		}
	}
}

func TestParseVisitsEverything(t *testing.T) {
	t.Parallel()
	checkReads(t, Bash, []readCase{
		{"", "", ""},
		{"# only a comment", "", ""},
		{"echo hi", "echo|hi", ""},
		{"ls; pwd\ndate & id", "ls / pwd / date / id", ""},
		{"a && b || c | d |& e", "a / b / c / d / e", ""},
		{"! a", "a", ""},
		{"(a; b) > f", " >f:w / a / b", ""},
		{"{ a; } 2> f", " 2>f:w / a", ""},
		{"if a; then b; elif c; then d; else e; fi < f", " <f:r / a / b / c / d / e", ""},
		{"while a; do b; done; until c; do d; done", "a / b / c / d", ""},
		{"for x in $(a) b; do c; done", "a / c", ""},
		{"select x in $(a); do b; done", "a / b", ""},
		{"for ((i=$(a); i<3; i++)); do b; done", "((|?i=$(a)|i<3|i++ / a / b", "arithmetic"},
		{"case $(a) in $(b)) c;; *) d;; esac", "a / b / c / d", ""},
		{"f() { a; }; function g { b; }", "a / b", ""},
		{"function /bin/ls { touch y; }; /bin/ls", "touch|y / /bin/ls", ""},
		{"time -p a; time", "a", ""},
		{"coproc a; coproc N { b; }", "a / b", ""},
		{"echo $(a) `b` \"$(c)\" \"`d`\"", "echo|?$(a)|?`b`|?\"$(c)\"|?\"`d`\" / a / b / c / d", ""},
		{"cat <(a) > >(b)", "cat|?<(a) >?>(b):w / a / b", ""},
		{"echo ${x:-$(a)} ${x/$(b)/$(c)} ${x#$(d)}", "echo|?${x:-$(a)}|?${x/$(b)/$(c)}|?${x#$(d)} / a / b / c / d", ""},
		{"echo ${x:$(a):2}", "echo|?${x:$(a):2} / a", "arithmetic"},
		{"echo $((1 + $(a)))", "echo|?$((1 + $(a))) / a", "arithmetic"},
		{"x=$(a) y=1", "{x=?$(a)}{y=1} / a", ""},
		{"x=1 y+=2 z", "{x=1}{y+=2}z", ""},
		{"x=($(a) b)", "{x=?x=($(a) b)} / a", ""},
		{"x[$(a)]=1", "{x=?x[$(a)]=1} / a", "arithmetic"},
		{"> f", " >f:w", ""},
		{"cat <<E\n$(a) b\nE", "cat <<E:(?$(a) b\n) / a", ""},
		{"cat <<'E'\n$(a)\nE", "cat <<E:($(a)\n)", ""},
		{"cat <<-E\n\tb\n\tE", "cat <<-E:(b\n)", ""},
		{"cat <<< \"$(a)\"", "cat <<<?\"$(a)\": / a", ""},
		{"[[ -f $(a) && b == c* ]]", "[[|-f|?$(a)|&&|b|==|*c* / a", ""},
		{"((x = 1))", "((|x=1", ""},
		{"let x=1 y=2", "let|x=1|y=2", ""},
		{"export A=b C; declare -x D=$(e)", "{A=b}export|A=b|C / {D=?$(e)}declare|-x|?D=$(e) / e", ""},
		{"local x; readonly y=1; typeset z", "local|x / {y=1}readonly|y=1 / typeset|z", ""},
	})
}

func TestParseWords(t *testing.T) {
	t.Parallel()
	checkReads(t, Bash, []readCase{
		{`t"ou"c'h' y`, "touch|y", ""},
		{`\t\o\u\c\h y`, "touch|y", ""},
		{`$'\x74ouch' $'\u0079' $'a\tb' $'\061' $'a\0b'c`, "touch|y|a\tb|1|ac", ""},
		{`$"touch" y`, "touch|y", ""},
		{`{touch,/tmp/y}`, "touch|/tmp/y", ""},
		{`echo a{b,c}d {1..3} {x}`, "echo|abd|acd|1|2|3|{x}", ""},
		{`echo "a\$b\"c\\d\e"`, `echo|a$b"c\d\e`, ""},
		{`echo ~/x ~`, "echo|~/x|~", ""},
		{`echo *.txt "*" \* a?b [ab] [`, `echo|**.txt|*|*|*a?b|*[ab]|[`, ""},
		{`echo '' ""`, "echo||", ""},
		{`echo "$x" $x a$x`, `echo|?"$x"|?$x|?a$x`, ""},
		{`cat 0<in 2>>log >|f <>g &>h &>>i 2>&1 >&- >&file <&3`, "cat 0<in:r 2>>log:w >|f:w <>g:rw &>h:w &>>i:w 2>&1: >&-: >&file:w <&3:", ""},
		{`$cmd a`, "?$cmd|a", "program"},
		{`$(echo rm) -rf /`, "?$(echo rm)|-rf|/ / echo|rm", "program"},
		{`/bin/r[m] x`, "*/bin/r[m]|x", "program"},
		{`echo @(a|$(b))`, "echo|*?@(a|$(b))", "pattern"},
		{`echo {a,b}{1..9999999}`, "echo|?{a,b}{1..9999999}", "braces"},
	})
	checkReads(t, POSIX, []readCase{
		{`echo {a,b}`, "echo|?{a,b}", ""},
		{`$'rm' x`, "?$'rm'|x", "program"},
		{`echo $[1+2] $"a" a$`, `echo|*?$[1+2]|?$"a"|a$`, ""},
		{`export A=b; local x=1; [[ a ]]`, "export|A=b / local|x=1 / [[|a|]]", ""},
		{`time a b`, "time|a|b / time>a|b", ""},
	})
}

func TestParseTracksVariables(t *testing.T) {
	t.Parallel()
	const assign = "{k=kubectl} / "
	checkReads(t, Bash, []readCase{
		{"k=kubectl; $k apply", assign + "~kubectl|apply", ""},
		{"k=kubectl\n\"$k\" apply", assign + "~kubectl|apply", ""},
		{"k=kubectl && ${k} apply", assign + "~kubectl|apply", ""},
		{"k='kubectl apply'; $k -f x", "{k=kubectl apply} / ~kubectl|~apply|-f|x", ""},
		{"export k=kubectl; $k apply", "{k=kubectl}export|k=kubectl / ~kubectl|apply", ""},
		{"k=; $k zz a", "{k=} / zz|a", ""},
		{"k=kubectl; (cd x && $k apply) | tee f", assign + "cd|x / ~kubectl|apply / tee|f", ""},
		{"k=a; $k; k=b; $k", "{k=a} / ~a / {k=b} / ~b", ""},
		{"a=x; echo \"$a/y\" $a", "{a=x} / echo|~x/y|~x", ""},

		{"$k apply", "?$k|apply", "program"},
		{"$k apply; k=kubectl", "?$k|apply / {k=kubectl}", "program"},
		{"if a; then k=kubectl; fi; $k apply", "a / {k=kubectl} / ?$k|apply", "program"},
		{"a && k=kubectl; $k apply", "a / {k=kubectl} / ?$k|apply", "program"},
		{"k=a; (k=b); $k", "{k=a} / {k=b} / ?$k", "program"},
		{"k=a | b; $k", "{k=a} / b / ?$k", "program"},
		{"k=a & $k", "{k=a} / ?$k", "program"},
		{"k=a; f() { k=zz; }; f; $k", "{k=a} / {k=zz} / f / ?$k", "program"},
		{"k=a; for k in b c; do $k; done", "{k=a} / ?$k", "program"},
		{"k=a; read k; $k", "{k=a} / read|k / ?$k", "program"},
		{"k=a; read -r $v; $k", "{k=a} / read|-r|?$v / ?$k", "eval_data program"},
		{"k=a; . ./f; $k", "{k=a} / .|./f / ?$k", "source program"},
		{"k=a; eval b; $k", "{k=a} / eval|b / eval>b / ?$k", "program"},
		{"k=a; printf -v k zz; $k", "{k=a} / printf|-v|k|zz / ?$k", "program"},
		{"k=a; echo ${k:=b}; unset k; $k", "{k=a} / echo|?${k:=b} / unset|k / ?$k", "program"},
		{"k=a; IFS=x; $k", "{k=a} / {IFS=x} / ?$k", "program"},
		{"k=a > f; $k", "{k=a} >f:w / ?$k", "program"},
		{"k=a\nk=b zz\n$k", "{k=a} / {k=b}zz / ?$k", "program"},
		{"readonly k; k=a; $k", "readonly|k / {k=a} / ?$k", "program"},
		{"declare -u k; k=a; $k", "declare|-u|k / {k=a} / ?$k", "program"},
		{"e=eval; k=a; $e k=zz; $k", "{e=eval} / {k=a} / ?$e|k=zz / ?$k", "program"},
		{"k=a; f() { $k; }; f", "{k=a} / ?$k / f", "program"},
		{"k=a; k+=b; $k", "{k=a} / {k+=b} / ?$k", "program"},
		{"UID=zz; $UID", "{UID=zz} / ?$UID", "program"},
	})
	// After an error in a line a shell goes on with the next one: k is still a.
	for _, text := range []string{
		"k=a\n: $((1/0)); k=b\n$k", "k=a\n: ${zz?}; k=b\n$k", "k=a\nk=b z=$((1/0))\n$k",
	} {
		if a := mustParse(t, text, Bash); !a.Runs("zz") {
			t.Errorf("%q: rules out what it cannot know", text)
		}
	}
}

func TestParseDifferentials(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/differentials.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		text, err := strconv.Unquote(sc.Text())
		if err != nil {
			t.Fatal(err)
		}
		n++
		if a, err := Parse(text, Bash); err == nil && !a.Opaque && !slices.Contains(show(a), "zz") {
			t.Errorf("%q: zz stays hidden: %q", text, show(a))
		}
	}
	if n < 100 {
		t.Fatalf("only %d cases", n)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, code string
		line, col  int
	}{
		{"ls \x00; rm x", "policy.char_nul", 1, 4},
		{"x=\rls zz", "policy.char_cr", 1, 3},
		{"ls\r\n", "policy.char_cr", 1, 3},
		{"a\nls\x0bpwd", "policy.char_control", 2, 3},
		{"echo \x1b[2K", "policy.char_control", 1, 6},
		{"echo \x7f", "policy.char_control", 1, 6},
		{"echo \u0085", "policy.char_control", 1, 6},
		{"echo \u202e\"txt.exe\"", "policy.char_bidi", 1, 6},
		{"echo \u2066x", "policy.char_bidi", 1, 6},
		{"rm\u200b -rf /", "policy.char_invisible", 1, 3},
		{"\ufeffls", "policy.char_invisible", 1, 1},
		{"echo \xff", "policy.not_utf8", 1, 6},
		{strings.Repeat("a", MaxBytes+1), "policy.too_long", 1, MaxBytes + 1},
		{"echo ${x:-<(zz)}", "policy.procsubst_literal", 1, 11},
		{"let x=$>(zz)+1", "policy.let_operator", 1, 8},
		{"let x=1&zz", "policy.let_operator", 1, 8},
	} {
		_, err := Parse(tt.text, Bash)
		var r *RefusedError
		if !errors.As(err, &r) || r.Code != tt.code || r.Pos.Line != tt.line || r.Pos.Col != tt.col {
			t.Errorf("%.40q: %v, want %s at %d:%d", tt.text, err, tt.code, tt.line, tt.col)
			continue
		}
		if id, args := r.TextID(); id != tt.code || len(args) < 2 || r.Error() == "" {
			t.Errorf("TextID %s %v", id, args)
		}
	}
	for _, text := range []string{"ls '😀 photos'", "echo 你好", "echo a\tb", "ls '👩\u200d💻'", "ls\u3000-l"} {
		mustParse(t, text, Bash)
	}
}

func TestParseSyntaxErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		d    Dialect
		want string
	}{
		{"echo 'unterminated", Bash, "bash: line 1, column 6: syntax error: reached EOF without closing quote"},
		{"ls\necho $(ls", POSIX, "sh: line 2, column 6: syntax error: "},
		{"ls )", Bash, "bash: line 1, column 4: syntax error: "},
		{"if true; then ls", Bash, "bash: line 1, column 1: syntax error: "},
		{"echo (a)", Bash, "syntax error"},
		{"((ls); pwd)", Bash, "syntax error"},
		{"ls &>/dev/null zz", POSIX, "sh: line 1, column 4: syntax error: `&>` redirects are a bash"},
		{"cat <(a)", POSIX, "syntax error"},
		{"a=(b)", POSIX, "syntax error"},
		{"echo `ls", POSIX, "syntax error"},
		{"cat <<E\nx", POSIX, "syntax error"},
	} {
		_, err := Parse(tt.text, tt.d)
		var p *ParseError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
			continue
		}
		if id, args := p.TextID(); id != "policy.parse_error" || len(args) != 4 {
			t.Errorf("TextID %s %v", id, args)
		}
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"echo   hi":              "echo hi",
		"echo hi # comment":      "echo hi",
		"a;b":                    "a\nb",
		"echo `a`":               "echo $(a)",
		"ls -la \\\n  /tmp":      "ls -la \\\n\t/tmp",
		"cat <<E\nx\nE":          "cat <<E\nx\nE",
		"if a\nthen b\nfi":       "if a; then b; fi",
		"echo \"$\\\n(zz)\"":     "echo \"$(zz)\"",
		"f ( ) { a ; }":          "f() { a; }",
		"echo 'a  b'   \"c  d\"": "echo 'a  b' \"c  d\"",
	} {
		if a := mustParse(t, text, Bash); a.Canonical != want && !strings.HasPrefix(text, "if") {
			t.Errorf("%q: canonical %q, want %q", text, a.Canonical, want)
		}
	}
	if a := mustParse(t, "echo \"$\\\n(zz)\"", Bash); !a.Differs || !a.Opaque || !slices.Contains(show(a), "zz") {
		t.Errorf("a hidden substitution does not show: %+v", a)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	a := mustParse(t, "ls\n  pwd | x=1 id", Bash)
	want := []Pos{{0, 1, 1}, {5, 2, 3}, {11, 2, 9}}
	for i, c := range a.Commands {
		if c.Pos != want[i] {
			t.Errorf("command %d at %+v, want %+v", i, c.Pos, want[i])
		}
	}
}

func TestShellDialect(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]Dialect{
		"/bin/bash": Bash, "bash": Bash, `C:\Git\bin\BASH.exe`: Bash, "/bin/sh": POSIX, "": POSIX, "/bin/zsh": POSIX,
		"/bin/bash5": POSIX, "/bash/sh": POSIX,
	} {
		if got := ShellDialect(shell); got != want {
			t.Errorf("ShellDialect(%q) = %v", shell, got)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"for f in a *.go \"b c\" $x; do :; done": "a|*.go|b c|$x", "sh -c 'for f in x y; do :; done'; for g in z; do :; done": "x|y|z", "for f; do :; done": "", "ls a": "",
		"f() { for i in {1,2}; do :; done; }": "1|2", "echo $(for f in a; do :; done)": "a",
	} {
		a, err := Parse(text, Bash)
		if err != nil {
			t.Fatal(text, err)
		}
		var got []string
		for _, w := range a.Lists {
			got = append(got, w.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

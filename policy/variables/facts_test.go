package variables

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func of(t *testing.T, text string) *Facts {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return Of(file, true)
}

func TestConstant(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"k=a", "k=a; b; k=c", "{ k=a; }", "k=a && b", "time k=a", "export k=a", "k=a; f() { b; }", "k=1", "k='a b'", "k=a; $k",
		"k=a; printf '%s' k", "k=a; echo ${x:=k}", "k=a; [ -n b ]",
	} {
		if !of(t, text).Constant("k") {
			t.Errorf("%q: not constant", text)
		}
	}
	for _, text := range []string{
		"", "b=a", "k=$(a)", "k=$x", "k=*", "k=~", "k+=a", "k=(a)", "k[0]=a", "k=a >f", "k=a b", "a && k=b", "k=a | b", "(k=a)",
		"k=a &", "if k=a; then b; fi", "while b; do k=a; done", "f() { k=a; }", "for k in a; do b; done", "k=a; read k",
		"k=a; eval b", "k=a; . b", "k=a; unset k", "k=a; printf -v k b", "k=a; IFS=x", "k=a; readonly b", "k=a; declare -n r=k",
		"k=a; ((k++))", "k=a; echo ${k:=b}", "k=a; $x", "k=a; x=read; $x k", "k=a; \"$x\" b", "k=a; command read k", "k=a; {k}>f",
		"k=a; coproc k { b; }", "k=a; getopts x k", "k=a; mapfile k", "k=a; select k in b; do c; done", "k=a; trap b DEBUG",
		"k=a; echo ${ k=b; }",
	} {
		if of(t, text).Constant("k") {
			t.Errorf("%q: constant", text)
		}
	}
	if of(t, "UID=a; BASH_X=b; _=c").Constant("UID") || of(t, "_=a").Constant("_") {
		t.Error("a name of the shell's own is constant")
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"n=1", "n=1; n=$((n+1))", "for n in 1 2; do a; done", "for n in {1..3}; do a; done", "for ((n=0;n<3;n++)); do a; done",
		"n=$(date +%s)", "n=$(a | wc -l)", "n=0; while a; do ((n++)); done", "((n=0)); n=${#x}",
	} {
		if !of(t, text).number("n") {
			t.Errorf("%q: not a number", text)
		}
	}
	for _, text := range []string{
		"", "n=a", "n=1; n=a", "n=$((n+1))", "n=$x", "n=$(a)", "for n in 1 a; do b; done", "for n; do a; done", "n=1; read n",
		"n=1; eval a", "n=$(date +%s); date() { a; }", "n=$(date +%s; a)", "n=$(wc -l f)", "n=$(date +%s >f)", "((n++))",
		"n=1; declare n=a", "n=1; f() { n=a; }",
	} {
		if of(t, text).number("n") {
			t.Errorf("%q: a number", text)
		}
	}
	if f := of(t, "declare -A m; m[x]=1"); !f.Associative("m") || f.Associative("x") {
		t.Error("associative arrays are not known")
	}
}

package redact

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func builtin(t testing.TB) *Set {
	t.Helper()
	return mustNew(t, Options{})
}

func mustNew(t testing.TB, o Options) *Set {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fake builds example secrets at run time, so that no scanner takes this file for a leak.
func fake(prefix string, n int) string {
	const chars = "aB3dE5fG7hJ9kLmN0pQrS2tUvW4xYzA6bC8"
	return prefix + strings.Repeat(chars, n/len(chars)+1)[:n]
}

var b36 = fake("", 36)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	s := builtin(t)
	upper16 := "ABCD2345EFGH6789"
	tests := []struct{ name, in, want string }{
		{"github", "x " + fake("ghp_", 36) + " y", "x ghp_*** y"},
		{"github server", fake("ghs_", 36), "ghs_***"},
		{"github fine", fake("github_pat_", 60) + ".", "github_pat_***."},
		{"github after an escape", `"\n` + fake("gho_", 36) + `"`, `"\ngho_***"`},
		{"github in colour", "\x1b[1;32m" + fake("ghu_", 36) + "\x1b[0m", "\x1b[1;32mghu_***\x1b[0m"},
		{"github in a URL", "https://" + fake("ghp_", 36) + "@github.com/x", "https://ghp_***@github.com/x"},
		{"gitlab", fake("glpat-", 20), "glpat-***"},
		{"slack", "xoxb-123456789012-" + b36, "xoxb-***"},
		{"slack app", "xapp-1-A0123456789-" + b36, "xapp-***"},
		{"openai", fake("sk-", 48), "sk-***"},
		{"openai project", "sk-proj-ab-cd_" + b36, "sk-proj-***"},
		{"anthropic", "sk-ant-api03-a-b-c-" + b36 + "-x", "sk-ant-***"},
		{"openrouter", "sk-or-v1-" + b36, "sk-or-v1-***"},
		{"short key", "sk-test-0123456789abcdef", "sk-test-***"},
		{"google", fake("AIza", 35), "AIza***"},
		{"npm", fake("npm_", 36), "npm_***"},
		{"telegram", "bot 123456789:" + fake("AA", 33) + "\n", "bot 123456789:***\n"},
		{"telegram url", "https://api.telegram.org/bot123456789:" + fake("AA", 33) + "/getMe", "https://api.telegram.org/bot123456789:***/getMe"},
		{"aws", "id AKIA" + upper16 + "\n", "id AKIA***\n"},
		{"aws session", "ASIA" + upper16, "ASIA***"},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + b36, "eyJ***"},
		{"bearer header", "Authorization: Bearer abc.def-123\r\nHost: x", "Authorization: Bearer ***\r\nHost: x"},
		{"basic header", "authorization: basic dXNlcjpwYXNz\n", "authorization: basic ***\n"},
		{"json header", `{"Authorization": "Bearer abcdef123"}`, `{"Authorization": "Bearer ***"}`},
		{"curl header", `curl -H 'Authorization: token abcd1234' x`, `curl -H 'Authorization: token ***' x`},
		{"header without scheme", "Authorization: " + b36, "Authorization: ***"},
		{"bearer alone", "got bearer " + b36 + " back", "got bearer *** back"},
		{"url", "postgres://app:hun!ter2@db:5432/x", "postgres://app:***@db:5432/x"},
		{"url without user", "redis://:hunter2@cache", "redis://:***@cache"},
		{"url with @ in the password", "ftp://u:p@ss@host/", "ftp://u:***@host/"},
		{"env", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n", "AWS_SECRET_ACCESS_KEY=***\n"},
		{"env plain word", "DB_PASSWORD=swordfish\n", "DB_PASSWORD=***\n"},
		{"env quoted", `export API_KEY="abcd efgh"; x API_KEY="abcdefgh"`, `export API_KEY="abcd efgh"; x API_KEY="***"`},
		{"ini", "password = hunter2\n", "password = ***\n"},
		{"yaml", "  password: hunter2\n", "  password: ***\n"},
		{"toml", "api_key = 'abcdefgh'", "api_key = '***'"},
		{"json", `{"password":"hunter2","x":1}`, `{"password":"***","x":1}`},
		{"json in json", `"{\"client_secret\":\"hunter2\"}"`, `"{\"client_secret\":\"***\"}"`},
		{"query", "GET /?token=abcd1234&x=1", "GET /?token=***&x=1"},
		{"flag", "mysql --password=hunter2 -u x", "mysql --password=*** -u x"},
		{"plain word", `{"password":"monkey"}`, `{"password":"***"}`},
		{"capitals", "PASSWORD=MONKEY", "PASSWORD=***"},
		{"marks", "password: corr+ect!horse", "password: ***"},
		{"number", "password: 12345678", "password: ***"},
		{"bracket in a value", `PASSWORD=p@ss(w0rd x "password": "ab(cd[ef"`, `PASSWORD=*** x "password": "***"`},
		{"hash that begins with $", "password=$2b$12$abcdefgh", "password=***"},
		{"quote left open", `token="abcd1234`, `token="***`},
		{"ruby", `:password => "hunter2"`, `:password => "***"`},
		{"two", "token=abcd1234 secret=efgh5678", "token=*** secret=***"},
	}
	for _, tt := range tests {
		if got := s.String(tt.in); got != tt.want {
			t.Errorf("%s: String(%q)\n got %q\nwant %q", tt.name, tt.in, got, tt.want)
		}
	}
}

// ordinary is text that must come through as it is.
var ordinary = []string{
	"", "a", "y/n? ", "Password: ", "password:", "[sudo] password for bob: ", "Enter token: ", "token",
	"password: required\n", "Password: incorrect, try again", "token = next()", "token=next()", "secret := os.Getenv(\"X\")",
	"token: string", "max_token=4096", `"max_tokens": 4096`, `"token": null`, `{"type": "password"}`, "tokens: 12345678",
	"password = getpass.getpass()", "token = tokens[0]", `secret = os.environ["X"]`, "password: 请输入您的密码", `"password": "密码不能为空"`,
	"token: not-set-yet", "password: ********", "token=access_token", "token: accessToken", "PASSWORD=%PASS%", "secret=cfg.Secret2", "token=self.token", "password=$PASS", "password=${PASS:-x}", "token=%s", "token=<your token>",
	"curl -H \"Authorization: Bearer $TOKEN\"", "authorization: required", "basic usage of bearer tokens", "bearer of news",
	"http://localhost:8080/x", "http://localhost:8080", "see https://example.com/a:b@c", "git@github.com:a/b.git", "ssh://git@host:22/x",
	"a task-list-of-something-really-long-and-more", "sk-learn-contrib-package-of-things", "risk-taking", "eyJust", "AKIA", "AKIAabc",
	"12:34:56 123456:short", "ghp_short", "secret_name = foo", "the secret: be kind", "if token == \"abcdef12\" {", "token=token",
	"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "-----BEGIN", "-----END PRIVATE KEY-----\n",
	"hello\n-----END PRIVATE KEY-----\n", "drwxr-xr-x 2 root root 4096 Dec 1 03:40 token\n", "磁盘还剩多少？密码",
	"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
	strings.Repeat("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n", 3),
}

func TestOrdinaryTextIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := builtin(t)
	for _, in := range ordinary {
		if got := s.String(in); got != in {
			t.Errorf("String(%q) = %q", in, got)
		}
		if got := stream(s, []byte(in), 1); got != in {
			t.Errorf("byte by byte: %q became %q", in, got)
		}
	}
}

func TestPromptsFlowWithoutDelay(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Options{Literals: []string{"correct horse", "xyzzyplugh"}})
	for _, in := range []string{
		"y/n? ", "Password: ", "[sudo] password for bob: ", "Continue? [y/N] ", "login: ", "mysql> ", "$ ", "root@host:~# ", "密码：",
		"10%\r20%\r", "ready\n", "Step 1\nStep 2 of 3 ", ">>> token = next()\n", "export token=", "12:34:56 123456 ", "1\n2\n3\n",
	} {
		st := s.Stream()
		if got := string(st.Write([]byte(in))); got != in {
			t.Errorf("Write(%q) = %q", in, got)
		}
	}
}

func TestSecretsAreHeldBack(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Options{Literals: []string{"correct horse"}})
	for _, tt := range []struct{ in, shown, flushed string }{
		{"a " + fake("ghp_", 20), "a ghp_", fake("", 20)},
		{"a " + fake("ghp_", 36), "a ghp_", "***"},
		{"x token=abcd", "x token=", "***"},
		{"a correct ho", "a ", "correct ho"},
		{"http://me:pw", "http://me:", "pw"},
	} {
		st := s.Stream()
		if got := string(st.Write([]byte(tt.in))); got != tt.shown {
			t.Errorf("Write(%q) = %q, want %q", tt.in, got, tt.shown)
		}
		if got := string(st.Flush()); got != tt.flushed {
			t.Errorf("Flush after %q = %q, want %q", tt.in, got, tt.flushed)
		}
	}
}

func keys(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	k, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p8, err := x509.MarshalPKCS8PrivateKey(ed)
	if err != nil {
		t.Fatal(err)
	}
	rsaDER := x509.MarshalPKCS1PrivateKey(k)
	out["rsa"] = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: rsaDER}))
	out["encrypted"] = string(pem.EncodeToMemory(&pem.Block{
		Type: "RSA PRIVATE KEY", Bytes: rsaDER, Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,0011"},
	}))
	out["ed25519"] = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: p8}))
	out["crlf"] = strings.ReplaceAll(out["rsa"], "\n", "\r\n")
	out["indented"] = "  " + strings.ReplaceAll(strings.TrimSpace(out["rsa"]), "\n", "\n  ") + "\n"
	out["json"] = strings.ReplaceAll(out["rsa"], "\n", `\n`)
	out["pgp"] = strings.ReplaceAll(strings.ReplaceAll(out["rsa"], "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "\n-----END", "\n=aB3d\n-----END")
	return out
}

// leaks returns a stretch of n characters that out shows of a key's body, or nothing.
func leaks(key, out string, n int) string {
	body := key[strings.Index(key, "KEY")+len("KEY BLOCK-----"):]
	body = body[:strings.LastIndex(body, "-----END")]
	for i := 0; i+n <= len(body); i++ {
		if s := body[i : i+n]; !strings.ContainsAny(s, "\r\n \\-,:") && strings.Contains(out, s) {
			return s
		}
	}
	return ""
}

func TestPrivateKeys(t *testing.T) {
	t.Parallel()
	s := builtin(t)
	for name, key := range keys(t) {
		in := "before " + key + "after\n"
		for _, n := range []int{1, 7, 64, len(in)} {
			got := stream(s, []byte(in), n)
			if l := leaks(key, got, 6); l != "" {
				t.Errorf("%s in chunks of %d: shows %q in\n%s", name, n, l, got)
			}
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, "after\n") || !strings.Contains(got, "-----END") {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

func TestPrivateKeyWithoutItsBeginning(t *testing.T) {
	t.Parallel()
	s := builtin(t)
	for name, key := range keys(t) {
		begin := strings.Index(key, "\n")
		if name == "json" {
			begin = strings.Index(key, `\n`) + 1
		}
		if name == "encrypted" {
			begin = strings.Index(key, "\n\n") + 1
		}
		stop := strings.Index(key, "-----END") - 30
		for cut := begin + 1; cut < stop; cut += 5 {
			got := stream(s, []byte(key[cut:]+"after\n"), 11)
			if l := leaks(key, got, maxWord+1); l != "" {
				t.Fatalf("%s cut at %d: shows %q in\n%s", name, cut, l, got)
			}
			if !strings.HasSuffix(got, "after\n") {
				t.Fatalf("%s cut at %d: %q", name, cut, got)
			}
		}
		// In the middle of other output a run begins at a full line, whose first characters are shown.
		if name == "json" {
			continue
		}
		cut := begin + 1
		got := s.String("==> key.pem <==\n" + key[cut:])
		if l := leaks(key, got, leadIn+1); l != "" {
			t.Errorf("%s in the middle: shows %q in\n%s", name, l, got)
		}
	}
}

func TestLongSecretIsHiddenToItsEnd(t *testing.T) {
	t.Parallel()
	s := builtin(t)
	for _, n := range []int{1000, overlap - 1, overlap, overlap + 1, 5 * overlap} {
		in := "token=" + strings.Repeat("a1", n/2) + " ghp_" + strings.Repeat("b2", n) + " end"
		for _, chunk := range []int{997, len(in)} {
			if got, want := stream(s, []byte(in), chunk), "token=*** ghp_*** end"; got != want {
				t.Errorf("%d bytes in chunks of %d: %.80q, want %q", n, chunk, got, want)
			}
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Options{Literals: []string{"aaaaaaaa"}})
	for _, line := range []string{"a", "-----BEGIN PRIVATE KEY-----\n", "token=x", "eyJ", "eyJa-", "=", strings.Repeat("Ab3d", 16) + "\n", "://a:", "://a", "token:"} {
		st := s.Stream()
		chunk := []byte(strings.Repeat(line, 4096/len(line)))
		for range 64 {
			st.Write(chunk)
		}
		if n := cap(st.tails.buf) + cap(st.values.buf) + cap(st.shapes.buf); n > 12*overlap {
			t.Errorf("%q: %d bytes are kept", line, n)
		}
	}
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		literals []string
		in, want string
	}{
		{[]string{"hunter2"}, "a hunter2 b hunter2hunter2", "a *** b ******"},
		{[]string{"hunter2"}, "Hunter2", "Hunter2"},
		{[]string{"abcdef", "abcdefgh"}, "xabcdefghx abcdefgx", "x***x ***gx"},
		{[]string{"abcdef", "defxyz"}, "-abcdefxyz-", "-***-"},
		{[]string{"bcdefg", "hijklm", "abcdefghijklmn"}, "abcdefghijklmn", "***"},
		{[]string{"bcdefg", "hijklm"}, "abcdefghijklmn", "a******n"},
		{[]string{"aaaaaa"}, strings.Repeat("a", 50) + "b", "***b"},
		{[]string{"密码密码"}, "我的密码密码。", "我的***。"},
	}
	for _, tt := range tests {
		s := mustNew(t, Options{Literals: tt.literals, Patterns: []Pattern{}})
		for _, n := range []int{1, 2, 3, 100} {
			if got := stream(s, []byte(tt.in), n); got != tt.want {
				t.Errorf("%v in %q by %d: %q, want %q", tt.literals, tt.in, n, got, tt.want)
			}
		}
	}
}

func TestLiteralWithEveryByte(t *testing.T) {
	t.Parallel()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	s := mustNew(t, Options{Literals: []string{string(all)}, Patterns: []Pattern{}})
	if got := s.String("\x00" + string(all) + "\xff"); got != "\x00***\xff" {
		t.Errorf("%q", got)
	}
}

func TestOwnPatterns(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Options{Patterns: []Pattern{
		{Name: "whole", Prefixes: []string{"corp-"}, Expr: `corp-\d{4}`, Replace: "corp-***"},
		{Name: "group", Prefixes: []string{"密钥"}, Expr: `密钥[:：](\p{Han}+|\w+)`},
		{Name: "lazy is longest", Prefixes: []string{"<k>"}, Expr: `(?s)<k>.*?</k>`},
	}})
	for _, tt := range []struct{ in, want string }{
		{"corp-12345 CORP-1234", "corp-***5 CORP-1234"},
		{"密钥：天地玄黄。密钥:abc", "密钥：***。密钥:***"},
		{"<k>a</k>b</k>c", "***c"},
		{fake("ghp_", 36), fake("ghp_", 36)},
	} {
		for _, n := range []int{1, 2, 100} {
			if got := stream(s, []byte(tt.in), n); got != tt.want {
				t.Errorf("%q by %d: %q, want %q", tt.in, n, got, tt.want)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"short literal":  {Literals: []string{"abcde"}},
		"empty literal":  {Literals: []string{"abcdefg", ""}},
		"long literal":   {Literals: []string{strings.Repeat("x", overlap+1)}},
		"no prefix":      {Patterns: []Pattern{{Name: "p", Expr: "x"}}},
		"empty prefix":   {Patterns: []Pattern{{Name: "p", Expr: "x", Prefixes: []string{""}}}},
		"bad expression": {Patterns: []Pattern{{Name: "p", Expr: "(", Prefixes: []string{"x"}}}},
		"huge program":   {Patterns: []Pattern{{Name: "p", Expr: "((x{100}){100}){100}", Prefixes: []string{"x"}}}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "abcde") {
			t.Errorf("%s: the error shows the value: %v", name, err)
		}
	}
}

func TestNilSetChangesNothing(t *testing.T) {
	t.Parallel()
	var s *Set
	in := fake("ghp_", 36)
	st := s.Stream()
	if s.String(in) != in || string(s.Bytes([]byte(in))) != in || string(st.Write([]byte(in)))+string(st.Flush()) != in || s.Overlap() != overlap {
		t.Error("a nil set changed a text")
	}
}

func TestBytesDoesNotChangeItsArgument(t *testing.T) {
	t.Parallel()
	in := []byte("x token=abcd1234 y")
	if got := builtin(t).Bytes(in); string(got) != "x token=*** y" || string(in) != "x token=abcd1234 y" {
		t.Errorf("%q from %q", got, in)
	}
}

func TestStreamCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	st := builtin(t).Stream()
	for range 2 {
		got := string(st.Write([]byte("token=abcd1234")))
		got += string(st.Flush())
		if got != "token=***" {
			t.Errorf("%q", got)
		}
	}
}

// TestBuiltinPatternsAreSound holds what New does not check for them: they compile, and what they hide begins behind
// the prefix, which the scanner relies on.
func TestBuiltinPatternsAreSound(t *testing.T) {
	t.Parallel()
	for _, p := range Builtin() {
		if err := p.check(true); err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		prog := compile(p.Expr)
		for _, prefix := range p.Prefixes {
			var a attempt
			a.begin(&pattern{Pattern: Pattern{max: overlap}, prog: func() *syntax.Prog { return prog }}, 0, -1)
			if how := a.advance([]byte(prefix), false); how != undecided {
				t.Errorf("%s: prefix %q does not begin a match", p.Name, prefix)
			}
			for _, th := range a.seeds {
				if p.keeps && th.from >= 0 {
					t.Errorf("%s: hides a part of its prefix %q", p.Name, prefix)
				}
			}
		}
	}
}

// stream passes in through a Stream in chunks of n bytes.
func stream(s *Set, in []byte, n int) string {
	var out bytes.Buffer
	st := s.Stream()
	for len(in) > 0 {
		k := min(n, len(in))
		out.Write(st.Write(in[:k]))
		in = in[k:]
	}
	out.Write(st.Flush())
	return out.String()
}

// pieces are what generated texts are made of: beginnings, middles and ends of secrets, and ordinary text.
var pieces = []string{
	"ghp_", "sk-", "sk-ant-", "eyJ", ".", "AKIA", "xoxb-", "glpat-", "AIza", "npm_", "github_pat_", b36, "ABCD2345EFGH6789", "123456789", ":",
	"://", "me", "@", "host", "/", "password", "token", "secret", "api_key", "=", ": ", " = ", `"`, `\"`, "'", "hunter2", "next()",
	"Authorization", "Bearer ", "basic ", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "-----BEGIN ", "-----END ",
	strings.Repeat("Ab3d", 16), "Qq==", "\n", "\r\n", `\n`, " ", "\t", "hello", "密码", "\xe5\xaf", "\xff", "\x00", "correct horse", "correct ",
	"horse battery", "\x1b[31m", "%3D", "$", "(", ",", ";", "Proc-Type: 4,ENCRYPTED", "=aB3d", "corp-", "1234",
}

func sets(t testing.TB) []*Set {
	return []*Set{
		builtin(t),
		mustNew(t, Options{Literals: []string{"correct horse", "horse battery", b36, "aaaaaa"}}),
		mustNew(t, Options{
			Literals: []string{"hunter2"},
			Patterns: append(Builtin(),
				Pattern{Name: "own", Prefixes: []string{"corp-", "hello"}, Expr: `(?:corp-|hello)\s*(?:\d+|token)`},
				Pattern{Name: "own2", Prefixes: []string{"my token", "secret=corp-"}, Expr: `(?:my token|secret=corp-)1\w*`}),
		}),
	}
}

func TestAnyChunkingGivesTheSame(t *testing.T) {
	t.Parallel()
	all := sets(t)
	rapid.Check(t, func(t *rapid.T) {
		s := all[rapid.IntRange(0, len(all)-1).Draw(t, "set")]
		in := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "pieces"), ""))
		want := s.String(string(in))
		var got []byte
		st := s.Stream()
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "chunk")
			got = append(got, st.Write(rest[:n])...)
			if !strings.HasPrefix(want, string(got)) {
				t.Fatalf("%q\nshown so far %q\nwhole        %q", in, got, want)
			}
			rest = rest[n:]
		}
		if got = append(got, st.Flush()...); string(got) != want {
			t.Fatalf("%q\nstream %q\nwhole  %q", in, got, want)
		}
	})
}

func TestNoSecretIsShown(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Options{Literals: []string{"correct horse"}})
	secrets := []string{
		fake("ghp_", 36), fake("glpat-", 24), fake("sk-proj-", 60), fake("sk-ant-", 60), fake("AIza", 35), fake("npm_", 36),
		"xoxb-1234567890-" + b36, "AKIAABCD2345EFGH6789", "123456789:" + fake("AA", 33), "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + b36, "correct horse",
	}
	around := []string{"", " ", "\n", "\t", "\"", "'", "(", ")", ",", " x ", "\nhello ", "key: ", "url=", "密", "\x1b[0m", "<", ">"}
	rapid.Check(t, func(t *rapid.T) {
		var in strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			in.WriteString(rapid.SampledFrom(around).Draw(t, "gap") + " ")
			in.WriteString(rapid.SampledFrom(secrets).Draw(t, "secret"))
		}
		out := stream(s, []byte(in.String()), rapid.IntRange(1, 50).Draw(t, "chunk"))
		for _, secret := range secrets {
			if strings.Contains(out, secret[len(secret)-12:]) {
				t.Fatalf("%q shows the end of %q", out, secret)
			}
		}
	})
}

func FuzzStream(f *testing.F) {
	all := sets(f)
	for _, in := range ordinary {
		f.Add([]byte(in), uint8(3))
	}
	for _, p := range pieces {
		f.Add([]byte("x "+p+b36+p+"\n"+p), uint8(7))
	}
	for _, k := range keys(f) {
		f.Add([]byte(k), uint8(5))
		f.Add([]byte(k[100:]), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, n uint8) {
		for i, s := range all {
			want := s.String(string(in))
			if got := stream(s, in, int(n)%64+1); got != want {
				t.Errorf("set %d\nstream %q\nwhole  %q", i, got, want)
			}
		}
	})
}

func logText(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "2026-01-02T15:04:05.%06d INFO server/http.go:123 request method=GET path=/api/v1/items/%d status=200 bytes=%d dur=1.2ms\n", i, i*7, i*31)
	}
	return b.Bytes()[:n]
}

func BenchmarkString100K(b *testing.B) {
	s := builtin(b)
	in := string(logText(100 << 10))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		s.String(in)
	}
}

func BenchmarkStream100K(b *testing.B) {
	st := builtin(b).Stream()
	in := logText(100 << 10)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		st.Write(in)
		st.Flush()
	}
}

func BenchmarkString20(b *testing.B) {
	s := mustNew(b, Options{Literals: []string{b36}})
	for b.Loop() {
		s.String("echo hi | tr a-z A-Z")
	}
}

func BenchmarkSecret(b *testing.B) {
	s := builtin(b)
	in := "curl -H 'Authorization: token abcd1234' x"
	for b.Loop() {
		s.String(in)
	}
}

func BenchmarkWorstCase100K(b *testing.B) {
	s := builtin(b)
	for _, unit := range []string{"token=", "eyJa-", "eyJaaaaaaaa.", "://a:", "1234567:", "-----BEGIN PRIVATE KEY-----\nA: ", "sk-aaa-", "authorization:"} {
		in := strings.Repeat(unit, (100<<10)/len(unit))
		b.Run(unit[:4], func(b *testing.B) {
			for b.Loop() {
				s.String(in)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		mustNew(b, Options{})
	}
}

//go:build unix

package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/maishell/maishell/guard/paths"
)

// site is a directory with own files in it and a workspace beside them.
//
//	etc/maishell/config.toml   own file
//	etc/maishell/missing.toml  own file that does not exist
//	bin/maishell               own file
//	nowhere/conf.toml          own file in a directory that does not exist
//	state/maishell             own directory with db and spool/1
//	work                       workspace
type site struct {
	root, config, missing, binary, state, work string
	own                                        *OwnFiles
}

func newSite(t testing.TB) *site {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{
		root: root, config: filepath.Join(root, "etc/maishell/config.toml"), missing: filepath.Join(root, "etc/maishell/missing.toml"),
		binary: filepath.Join(root, "bin/maishell"), state: filepath.Join(root, "state/maishell"), work: filepath.Join(root, "work"),
	}
	for _, dir := range []string{"etc/maishell", "etc/other", "bin", "state/maishell/spool", "work/sub"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{s.config, s.binary, s.state + "/db", s.state + "/spool/1", s.work + "/mine.txt", root + "/etc/other/x"} {
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.own = NewOwnFiles([]string{s.config, s.missing, s.binary, root + "/nowhere/conf.toml"}, []string{s.state})
	return s
}

func link(t testing.TB, target, name string) string {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	return name
}

func TestOwnFilesByAnyPath(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.work
	link(t, s.config, w+"/file-link")
	link(t, "../etc/maishell", w+"/dir-link")
	link(t, w+"/dir-link", w+"/link-to-link")
	link(t, s.missing, w+"/dangling")
	link(t, s.root+"/etc", w+"/etc-link")
	link(t, s.state+"/new", w+"/into-state")
	link(t, w+"/loop-b", w+"/loop-a")
	link(t, w+"/loop-a", w+"/loop-b")
	link(t, w+"/sub", w+"/sub-link")
	for name, target := range map[string]string{"hard": s.config, "hard-db": s.state + "/db", "hard-spool": s.state + "/spool/1"} {
		if err := os.Link(target, w+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(w+"/mine.txt", w+"/mine-hard"); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		path string
		want relation
	}{
		{s.config, own}, {s.missing, own}, {s.binary, own},
		{s.state, own}, {s.state + "/", own}, {s.state + "/db", own}, {s.state + "/spool/1", own}, {s.state + "/not/yet", own},
		{"../etc/maishell/config.toml", own}, {"./../etc/./maishell//config.toml", own},
		{w + "/sub/../../etc/maishell/config.toml", own}, {w + "/nothing/../../etc/maishell/config.toml", own},
		{"file-link", own}, {"dir-link/config.toml", own}, {"dir-link/missing.toml", own}, {"link-to-link/config.toml", own},
		{"dangling", own}, {"into-state", own}, {"etc-link/maishell/config.toml", own},
		{"dir-link/../maishell/config.toml", own}, // only if .. is taken as the kernel does
		{"sub-link/../file-link", own},            // work/sub-link/.. is work either way
		{"etc-link/../work/file-link", own},
		{"hard", own}, {"hard-db", own}, {"hard-spool", own},
		{s.config + "/x", own}, {s.missing + "/x/y", own}, {"dangling/x", own}, {"dir-link/missing.toml/x", own}, {s.root + "/etc/nothing/../maishell/missing.toml/x", own},
		{s.root + "/nowhere/conf.toml", own}, {s.root + "/nowhere/conf.toml/x", own}, {s.root + "/nowhere/conf.toml2/x", apart}, {s.root + "/nowhere", holds}, {s.root + "/conf.toml", apart}, {s.root + "/nowhere/x/conf.toml", apart},
		{s.root + "/etc/maishell", holds}, {"dir-link", holds}, {s.root + "/bin", holds}, {s.root + "/state", holds},
		{s.root + "/etc", above}, {s.root, above}, {"/", above}, {"..", above}, {"etc-link", above},
		{w, apart}, {"mine.txt", apart}, {"mine-hard", apart}, {"sub", apart}, {"new", apart}, {"sub/new", apart},
		{s.root + "/etc/maishell/other.toml", apart}, {s.root + "/etc/maishell/config.toml.bak", apart},
		{s.root + "/etc/other/x", apart}, {s.root + "/etc/maishell2", apart}, {s.root + "/state/maishell2/db", apart},
		{"config.toml", apart}, {"loop-a", apart}, {"mine.txt/x", apart}, {"/dev/null", apart}, {"", apart},
	}
	for _, c := range cases {
		if got := s.own.view(false, "").relate(paths.Absolute(c.path, w)); got != c.want {
			t.Errorf("%q: %v, want %v", c.path, got, c.want)
		}
	}
}

// Own paths that are links themselves, or lie behind some: the links are as good as what they lead to.
func TestOwnLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	direct := link(t, s.config, s.root+"/etc/config-link")
	behind := link(t, s.root+"/etc/maishell", s.root+"/etc/conf") + "/config.toml"
	o := NewOwnFiles([]string{direct, behind}, []string{link(t, s.state, s.root+"/state-link")})
	for path, want := range map[string]relation{
		direct: own, behind: own, s.config: own, s.root + "/etc/conf": holds, s.root + "/etc/maishell": holds,
		s.state + "/db": own, s.root + "/state-link": own, s.root + "/state-link/new": own, s.state: own,
		s.missing: apart,
	} {
		if got := o.view(false, "").relate(path); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}

func TestOwnFilesDecide(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range []struct {
		name string
		a    Action
		want Verdict
	}{
		{"nothing", Action{}, Allow},
		{"write elsewhere", Action{Writes: []string{s.work + "/new"}}, Allow},
		{"write own", Action{Writes: []string{s.work + "/new", s.config}}, Deny},
		{"write own, relative", Action{Cwd: s.root + "/etc/maishell", Writes: []string{"config.toml"}}, Deny},
		{"write a directory above", Action{Writes: []string{s.root + "/etc"}}, Deny},
		{"read own", Action{Reads: []string{s.config}}, Confirm},
		{"read own and write elsewhere", Action{Reads: []string{s.config}, Writes: []string{s.work + "/copy"}}, Confirm},
		{"read one, write another", Action{Reads: []string{s.config}, Writes: []string{s.state + "/x"}}, Deny},
		{"list own directory", Action{Reads: []string{s.state}}, Confirm},
		{"list a directory above", Action{Reads: []string{s.root + "/etc/maishell"}}, Allow},
		{"destroy what it names", Action{Effects: []Effect{Destroy}, Reads: []string{s.root + "/etc"}}, Deny},
		{"destroy elsewhere, read own", Action{Effects: []Effect{Destroy}, Reads: []string{s.config}, Writes: []string{s.work}}, Confirm},
	} {
		d, err := s.own.Decide(t.Context(), c.a)
		if err != nil || d.Verdict != c.want || (d.Verdict != Allow && d.Rule != RuleOwnFiles) {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hard := s.work + "/hard"
	if err := os.Link(s.state+"/spool/1", hard); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		s.config: true, s.missing: true, s.state + "/spool/1": true, hard: true, s.work + "/mine.txt": false, s.root + "/etc": false,
	} {
		if got := s.own.Contains(path); got != want {
			t.Errorf("Contains(%s) = %v", path, got)
		}
		f, err := os.Open(path)
		if err != nil {
			continue // missing.toml
		}
		info, err := f.Stat()
		_ = f.Close()
		if got := s.own.ContainsFile(info); err != nil || got != want {
			t.Errorf("ContainsFile(%s) = %v (%v)", path, got, err)
		}
	}
	// A file that was replaced, as editors do, is still an own file.
	if err := os.WriteFile(s.config+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.config+".new", s.config); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.config); err != nil || !s.own.ContainsFile(info) {
		t.Errorf("the replaced file is no longer an own file (%v)", err)
	}
}

func TestCheckWorkspace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for dir, want := range map[string]string{
		s.work: "", s.work + "/not/yet": "",
		s.root: "guard.workspace_holds_own", "/": "guard.workspace_holds_own", s.root + "/etc/maishell": "guard.workspace_holds_own",
		link(t, s.root, s.work+"/up"): "guard.workspace_holds_own",
		s.state:                       "guard.workspace_inside_own", s.state + "/spool": "guard.workspace_inside_own", s.state + "/new": "guard.workspace_inside_own",
	} {
		err := s.own.CheckWorkspace(dir)
		var e *WorkspaceError
		id := ""
		if errors.As(err, &e) {
			id, _ = e.TextID()
		}
		if id != want || (err == nil) != (want == "") {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

// Any way through directories that exist, dots and links leads to the same answer as asking the system whether the
// file that is there is an own one.
func TestOwnFilesAgreesWithTheSystem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, target := range map[string]string{"l1": "..", "l2": s.root, "l3": "../etc", "l4": "l3/maishell", "l5": s.state, "l6": "l5/spool"} {
		link(t, target, s.work+"/"+name)
	}
	var ours []os.FileInfo
	for _, p := range []string{s.config, s.binary, s.state, s.state + "/db", s.state + "/spool", s.state + "/spool/1"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		ours = append(ours, info)
	}
	steps := []string{"..", ".", "l1", "l2", "l3", "l4", "l5", "l6", "etc", "maishell", "state", "spool", "work", "sub", "config.toml", "db", "1", "bin"}
	rapid.Check(t, func(rt *rapid.T) {
		path := s.work
		for _, step := range rapid.SliceOfN(rapid.SampledFrom(steps), 1, 10).Draw(rt, "steps") {
			path += "/" + step
		}
		info, err := os.Stat(path)
		if err != nil {
			return
		}
		want := false
		for _, o := range ours {
			want = want || os.SameFile(o, info)
		}
		if got := s.own.Contains(path); got != want && (want || filepath.Clean(path) == path) {
			rt.Fatalf("Contains(%s) = %v, the system says %v", path, got, want)
		}
	})
}

func TestProcSelf(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/root"); err != nil {
		t.Skip("no /proc here")
	}
	s := newSite(t)
	pid := strconv.Itoa(os.Getpid())
	f, err := os.Open(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	fd := strconv.Itoa(int(f.Fd()))
	for _, c := range []struct {
		path    string
		tool    bool // as a tool of this process sees it
		command bool // as a command sees it, started in etc/maishell
	}{
		{"/proc/self/root" + s.config, true, true},
		{"/proc/" + pid + "/root" + s.config, true, true},
		{"/proc/self/cwd/config.toml", false, true},
		{"/proc/thread-self/cwd/config.toml", false, true},
		{"/proc/self/fd/" + fd, true, false},
		{"/dev/fd/" + fd, true, false},
		{"/proc/" + pid + "/fd/" + fd, true, true},
		{"/dev/stdout", false, false}, {"/proc/self/status", false, false}, {"/proc/mounts", false, false}, {"/proc/self", false, false},
	} {
		if got := s.own.view(false, "").relate(c.path) == own; got != c.tool {
			t.Errorf("tool: %s is own: %v", c.path, got)
		}
		if got := s.own.view(true, s.root+"/etc/maishell").relate(c.path) == own; got != c.command {
			t.Errorf("command: %s is own: %v", c.path, got)
		}
	}
}

// Where own files are looked for, a directory of that name is as bad as the file; and it stays ours when it is there.
func TestDirectoryInAnOwnPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if err := os.Mkdir(s.missing, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.missing, s.missing + "/x", s.missing + "/x/y", link(t, s.missing, s.work+"/l") + "/x"} {
		if !s.own.Contains(path) {
			t.Errorf("%s is not own", path)
		}
	}
}

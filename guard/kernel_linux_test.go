package guard

import (
	"os"
	"strconv"
	"testing"
)

// Tools write nothing that the kernel makes up, whatever it is and however it is named.
func TestKernelFilesAreNotWritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link(t, "/proc/self", s.work+"/me")
	for path, want := range map[string]Verdict{
		"/proc/self/oom_score_adj": Deny, "/proc/self/comm": Deny, "/proc/" + strconv.Itoa(os.Getpid()) + "/comm": Deny, "/proc/sys/kernel/panic": Deny, "/sys/fs/cgroup/x/cgroup.procs": Deny, "/sys/fs/cgroup/cgroup.kill": Deny,
		s.work + "/me/comm": Deny, "/dev/../proc/self/comm": Deny, "/proc/thread-self/comm": Deny, "/dev/fd/1": Deny,
		"/proc/self/root" + s.work + "/new": Allow, "/proceed": Allow, s.work + "/proc/x": Allow, s.work + "/sys": Allow,
	} {
		d, err := s.own.Decide(t.Context(), Action{Writes: []string{path}})
		if err != nil || d.Verdict != want {
			t.Errorf("write %s: %+v, %v", path, d, err)
		}
		if d, err = s.own.Decide(t.Context(), Action{Reads: []string{path}}); err != nil || d.Verdict != Allow {
			t.Errorf("read %s: %+v, %v", path, d, err)
		}
	}
}

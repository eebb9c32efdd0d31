package paths

import "testing"

func TestEntryName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a.toml": "a.toml", "a.toml:s": "a.toml", "a.toml::$DATA": "a.toml", "a.toml. .": "a.toml"} {
		if got := EntryName(in); got != want {
			t.Errorf("EntryName(%q) = %q", in, got)
		}
	}
	if Key(`C:/A/b`) != Key(`c:\a\B`) {
		t.Error("case or slashes matter")
	}
}

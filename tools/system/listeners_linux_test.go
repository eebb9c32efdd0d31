package system

import "testing"

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0100007F:1F90": "127.0.0.1:8080", "00000000:0016": "0.0.0.0:22",
		"00000000000000000000000001000000:0050": "[::1]:80", "0000000000000000FFFF00000100007F:0050": "[::ffff:127.0.0.1]:80",
	} {
		got, ok := parseAddress(in)
		if !ok || got.String() != want {
			t.Errorf("%s: %v, %v, want %s", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "0100007F", "xx:1", "0100007F:zz", "0100007F:1F900", "01007F:1", "0100007F01:1"} {
		if got, ok := parseAddress(in); ok {
			t.Errorf("%q became %v", in, got)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("0100007F:1F90")
	f.Add("00000000000000000000000001000000:0050")
	f.Fuzz(func(t *testing.T, s string) {
		if a, ok := parseAddress(s); ok && !a.Addr().IsValid() {
			t.Errorf("%q became an invalid address", s)
		}
	})
}

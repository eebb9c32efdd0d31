package roles

import (
	"testing"

	"pgregory.net/rapid"
)

func TestAtLeast(t *testing.T) {
	t.Parallel()
	all := []Role{-1, None, Guest, User, Admin, 4, 99}
	for _, r := range all {
		for _, need := range all {
			valid := r >= Guest && r <= Admin && need >= Guest && need <= Admin
			if got, want := r.AtLeast(need), valid && r >= need; got != want {
				t.Errorf("Role(%d).AtLeast(%d) = %v, want %v", r, need, got, want)
			}
			m := Min(r, need)
			if !valid && m != None {
				t.Errorf("Min(%d, %d) = %v, want none", r, need, m)
			}
			if valid && m != min(r, need) {
				t.Errorf("Min(%d, %d) = %v", r, need, m)
			}
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Role{
		"guest": Guest, "User": User, "ADMIN": Admin,
		"": None, "none": None, " admin": None, "root": None, "u\u017fer": None, "admin\n": None,
	} {
		got, err := Parse(in)
		if got != want || (err == nil) != (want != None) {
			t.Errorf("Parse(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c          Caller
		key, group string
	}{
		{Caller{Platform: "qq", UserID: "1"}, "qq:1", ""},
		{Caller{Platform: "qq", UserID: "1", GroupID: "7"}, "qq:1", "qq:group:7"},
		{Caller{Platform: "qq", GroupID: "7"}, "", "qq:group:7"},
		{Caller{UserID: "1", GroupID: "7"}, "", ""},
	} {
		if tt.c.Key() != tt.key || tt.c.GroupKey() != tt.group {
			t.Errorf("%+v: keys %q, %q", tt.c, tt.c.Key(), tt.c.GroupKey())
		}
	}
}

func genCaller(t *rapid.T) Caller {
	id := rapid.SampledFrom([]string{"", " ", "1", "2", "10", "group:7", "7", "a:b"})
	return Caller{
		Platform: rapid.SampledFrom([]string{"qq", "tg", "local", "", "qq:group"}).Draw(t, "platform"),
		UserID:   id.Draw(t, "user"),
		GroupID:  id.Draw(t, "group"),
		Name:     rapid.SampledFrom([]string{"", "qq:1"}).Draw(t, "name"),
	}
}

func genLists(t *rapid.T) Lists {
	persons := rapid.SliceOfN(rapid.SampledFrom([]string{"qq:1", "qq:2", "tg:1", "local:1", "qq:a:b", "", "  "}), 0, 4)
	groups := rapid.SliceOfN(rapid.SampledFrom([]string{"qq:group:7", "tg:group:7", "qq:group:1", "local:group:7", ""}), 0, 3)
	return Lists{
		Admins: persons.Draw(t, "admins"), AdminGroups: groups.Draw(t, "admin_groups"),
		Users: persons.Draw(t, "users"), UserGroups: groups.Draw(t, "user_groups"),
		AdminInGroupChats: rapid.Bool().Draw(t, "switch"),
		LocalRole:         rapid.SampledFrom([]Role{None, Guest, User, Admin}).Draw(t, "local"),
	}
}

func resolve(t *rapid.T, l Lists, c Caller) Resolution {
	r, err := NewResolver(l)
	if err != nil {
		t.Fatal(err)
	}
	return r.Resolve(c)
}

func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, c := genLists(t), genCaller(t)
		got := resolve(t, l, c)
		if !got.Role.AtLeast(Guest) {
			t.Fatalf("no role: %+v", got)
		}

		// The user lists never make anybody an admin, and never add to what the admin lists gave.
		upper := l
		upper.Users, upper.UserGroups = nil, nil
		without := resolve(t, upper, c)
		if got.Role == Admin && without.Role != Admin {
			t.Fatalf("a user list raised %+v to admin", c)
		}

		// Names decide nothing.
		named := c
		named.Name = "somebody else"
		if resolve(t, l, named) != got {
			t.Fatal("the display name changed the role")
		}

		// The same person in a group that no list names has at most the role he has in private.
		private, elsewhere := c, c
		private.GroupID, elsewhere.GroupID = "", "unlisted"
		if resolve(t, l, elsewhere).Role > resolve(t, l, private).Role {
			t.Fatalf("an unlisted group raised %+v", c)
		}

		// With empty lists nobody but the local entrance is above guest.
		bare := resolve(t, Lists{LocalRole: l.LocalRole}, c)
		if bare.Role > Guest && (c.Platform != LocalPlatform || c.GroupID != "") {
			t.Fatalf("%+v is %v without any list", c, bare.Role)
		}
	})
}

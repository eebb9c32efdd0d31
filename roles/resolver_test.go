package roles

import (
	"errors"
	"testing"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	base := Lists{
		Admins:      []string{"qq:10001", "matrix:@alice:example.org", "qq:10001", "", "  "},
		AdminGroups: []string{"qq:group:777", "qq:group:777"},
		Users:       []string{"qq:20002", "local:bob"},
		UserGroups:  []string{"qq:group:888"},
		LocalRole:   Admin,
	}
	on := base
	on.AdminInGroupChats = true
	noLocal := base
	noLocal.LocalRole = None

	const md5Group = "5d41402abc4b2a76b9719d911017c592"
	tests := []struct {
		name  string
		lists Lists
		c     Caller
		want  Resolution
	}{
		{"2 admin in private", base, Caller{Platform: "qq", UserID: "10001"}, Resolution{Role: Admin, Rule: RuleAdmins}},
		{"2 switch irrelevant in private", on, Caller{Platform: "qq", UserID: "10001"}, Resolution{Role: Admin, Rule: RuleAdmins}},
		{"3 lowered in a group", base, Caller{Platform: "qq", UserID: "10001", GroupID: "999"}, Resolution{User, true, RuleLowered}},
		{"3 lowered in a group with an odd id", base, Caller{Platform: "qq", UserID: "10001", GroupID: md5Group}, Resolution{User, true, RuleLowered}},
		{"3 a blank group id is a group", base, Caller{Platform: "qq", UserID: "10001", GroupID: " "}, Resolution{User, true, RuleLowered}},
		{"4 switch on", on, Caller{Platform: "qq", UserID: "10001", GroupID: "999"}, Resolution{Role: Admin, Rule: RuleAdmins}},
		{"5 lowered although the group is an admin group", base, Caller{Platform: "qq", UserID: "10001", GroupID: "777"}, Resolution{User, true, RuleLowered}},
		{"6 admin group", base, Caller{Platform: "qq", UserID: "3", GroupID: "777"}, Resolution{Role: Admin, Rule: RuleAdminGroups}},
		{"6 admin group, switch on", on, Caller{Platform: "qq", UserID: "3", GroupID: "777"}, Resolution{Role: Admin, Rule: RuleAdminGroups}},
		{"7 user in private", base, Caller{Platform: "qq", UserID: "20002"}, Resolution{Role: User, Rule: RuleUsers}},
		{"7 user in a group", base, Caller{Platform: "qq", UserID: "20002", GroupID: "999"}, Resolution{Role: User, Rule: RuleUsers}},
		{"8 user group", base, Caller{Platform: "qq", UserID: "3", GroupID: "888"}, Resolution{Role: User, Rule: RuleUserGroups}},
		{"9 admin group before user person", base, Caller{Platform: "qq", UserID: "20002", GroupID: "777"}, Resolution{Role: Admin, Rule: RuleAdminGroups}},
		{"9 nobody", base, Caller{Platform: "qq", UserID: "3"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"10 other platform", base, Caller{Platform: "tg", UserID: "10001"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"10 platform case", base, Caller{Platform: "QQ", UserID: "10001"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"10 prefix", base, Caller{Platform: "qq", UserID: "1000"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"10 longer", base, Caller{Platform: "qq", UserID: "100011"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"10 group of another platform", base, Caller{Platform: "tg", UserID: "3", GroupID: "777"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"10 group prefix", base, Caller{Platform: "qq", UserID: "3", GroupID: "77"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"11 empty id", base, Caller{Platform: "qq"}, Resolution{Role: Guest, Rule: RuleAnonymous}},
		{"11 blank id", base, Caller{Platform: "qq", UserID: " \t"}, Resolution{Role: Guest, Rule: RuleAnonymous}},
		{"11 empty id in an admin group", base, Caller{Platform: "qq", GroupID: "777"}, Resolution{Role: Guest, Rule: RuleAnonymous}},
		{"11 empty id in a user group", base, Caller{Platform: "qq", GroupID: "888"}, Resolution{Role: Guest, Rule: RuleAnonymous}},
		{"11 nothing at all", base, Caller{}, Resolution{Role: Guest, Rule: RuleAnonymous}},
		{"11 local without a user", base, Caller{Platform: "local"}, Resolution{Role: Guest, Rule: RuleAnonymous}},

		{"colons in an id", base, Caller{Platform: "matrix", UserID: "@alice:example.org"}, Resolution{Role: Admin, Rule: RuleAdmins}},
		{"colons moved to the platform", base, Caller{Platform: "matrix:@alice", UserID: "example.org"}, Resolution{Role: Guest, Rule: RuleAnonymous}},
		{"a user id like a group key", base, Caller{Platform: "qq", UserID: "group:777"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"a platform like a group key", base, Caller{Platform: "qq:group", UserID: "777"}, Resolution{Role: Guest, Rule: RuleAnonymous}},
		{"a group id like a user id", base, Caller{Platform: "qq", UserID: "3", GroupID: "10001"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"a group id with the prefix", base, Caller{Platform: "qq", UserID: "3", GroupID: "group:777"}, Resolution{Role: Guest, Rule: RuleDefault}},

		{"local", base, Caller{Platform: "local", UserID: "root"}, Resolution{Role: Admin, Rule: RuleLocal}},
		{"local, listed lower", base, Caller{Platform: "local", UserID: "bob"}, Resolution{Role: User, Rule: RuleUsers}},
		{"local in a group", base, Caller{Platform: "local", UserID: "root", GroupID: "1"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"local, no local role", noLocal, Caller{Platform: "local", UserID: "root"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"not quite local", base, Caller{Platform: "Local", UserID: "root"}, Resolution{Role: Guest, Rule: RuleDefault}},
		{"named local", base, Caller{Platform: "qq", UserID: "local:root"}, Resolution{Role: Guest, Rule: RuleDefault}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := NewResolver(tt.lists)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Resolve(tt.c); got != tt.want {
				t.Errorf("Resolve(%+v) = %+v, want %+v", tt.c, got, tt.want)
			}
		})
	}
}

func TestZeroResolverKnowsOnlyGuests(t *testing.T) {
	t.Parallel()
	var r Resolver
	for _, c := range []Caller{{}, {Platform: "qq", UserID: "1", GroupID: "2"}, {Platform: "local", UserID: "root"}} {
		if got := r.Resolve(c); got.Role != Guest {
			t.Errorf("%+v is %v", c, got.Role)
		}
	}
}

func TestNewResolverErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lists Lists
		list  string
		index int
		code  string
	}{
		{Lists{Admins: []string{"qq:1", "10001"}}, RuleAdmins, 1, "roles.entry_form"},
		{Lists{Admins: []string{"qq:"}}, RuleAdmins, 0, "roles.entry_form"},
		{Lists{Users: []string{":1"}}, RuleUsers, 0, "roles.entry_form"},
		{Lists{Users: []string{" qq:1"}}, RuleUsers, 0, "roles.entry_space"},
		{Lists{Users: []string{"qq: "}}, RuleUsers, 0, "roles.entry_space"},
		{Lists{Admins: []string{"qq:group:777"}}, RuleAdmins, 0, "roles.entry_is_group"},
		{Lists{AdminGroups: []string{"qq:777"}}, RuleAdminGroups, 0, "roles.entry_not_group"},
		{Lists{UserGroups: []string{"qq:group:"}}, RuleUserGroups, 0, "roles.entry_form"},
	} {
		_, err := NewResolver(tt.lists)
		var e *EntryError
		if !errors.As(err, &e) || e.List != tt.list || e.Index != tt.index || e.Code != tt.code {
			t.Errorf("%+v: %v, want %s[%d] %s", tt.lists, err, tt.list, tt.index, tt.code)
			continue
		}
		if id, args := e.TextID(); id != tt.code || len(args) != 3 || e.Error() == "" {
			t.Errorf("TextID = %s %v", id, args)
		}
	}
	if _, err := NewResolver(Lists{LocalRole: 9}); err == nil {
		t.Error("an unknown local role was accepted")
	}
}

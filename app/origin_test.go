package app

import (
	"testing"

	"github.com/maishell/maishell/roles"
)

func TestIdentityOrigin(t *testing.T) {
	t.Parallel()
	me := localCaller()
	tests := []struct {
		name    string
		who     identity
		want    roles.Caller
		ceiling roles.Role
		bad     bool
	}{
		{name: "nobody named", want: me},
		{name: "a role is a ceiling", who: identity{as: "Guest"}, want: me, ceiling: roles.Guest},
		{name: "a person", who: identity{as: "qq:10001"}, want: roles.Caller{Platform: "qq", UserID: "10001"}},
		{name: "a person in a group", who: identity{as: "qq:10001", group: "7"}, want: roles.Caller{Platform: "qq", UserID: "10001", GroupID: "7"}},
		{name: "an id with a colon", who: identity{as: "matrix:@a:b.c"}, want: roles.Caller{Platform: "matrix", UserID: "@a:b.c"}},
		{name: "no platform", who: identity{as: ":1"}, bad: true},
		{name: "no id", who: identity{as: "qq:"}, bad: true},
		{name: "no colon", who: identity{as: "bob"}, bad: true},
		{name: "a space", who: identity{as: "qq: 1"}, bad: true},
		{name: "a group alone", who: identity{group: "7"}, bad: true},
		{name: "a group with a role", who: identity{as: "user", group: "7"}, bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, err := tt.who.origin("exec")
			if tt.bad {
				if err == nil {
					t.Fatalf("got %+v, want an error", o)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if o.Caller != tt.want || o.Ceiling != tt.ceiling || o.Channel != "exec" || o.Session == "" {
				t.Errorf("got %+v", o)
			}
		})
	}
}

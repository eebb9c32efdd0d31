package session

import (
	"context"
	"strings"
	"testing"

	"github.com/maishell/maishell/roles"
)

func valid() Origin {
	return Origin{
		Caller:  roles.Caller{Platform: "qq", UserID: "1", GroupID: "7", Name: "any\nthing"},
		Session: "s1", Channel: "onebot",
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if len(id) != 12 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" || seen[id] {
			t.Fatalf("bad id %q", id)
		}
		seen[id] = true
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	if err := (Origin{Caller: roles.Caller{Platform: "qq"}, Session: "s", Channel: "c", Ceiling: roles.Guest}).Validate(); err != nil {
		t.Errorf("anonymous caller: %v", err)
	}
	for want, change := range map[string]func(*Origin){
		"session: is empty":   func(o *Origin) { o.Session = " " },
		"channel: is empty":   func(o *Origin) { o.Channel = "" },
		"platform: is empty":  func(o *Origin) { o.Caller.Platform = "" },
		"platform: contains":  func(o *Origin) { o.Caller.Platform = "qq:group" },
		"own parent":          func(o *Origin) { o.Parent = o.Session },
		"unknown ceiling 9":   func(o *Origin) { o.Ceiling = 9 },
		"unknown ceiling -1":  func(o *Origin) { o.Ceiling = -1 },
		"user id: contains":   func(o *Origin) { o.Caller.UserID = "1\n2" },
		"group id: is not":    func(o *Origin) { o.Caller.GroupID = "\xff" },
		"parent: is longer":   func(o *Origin) { o.Parent = strings.Repeat("p", 257) },
		"session: contains a": func(o *Origin) { o.Session = "a\x00" },
	} {
		o := valid()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestChild(t *testing.T) {
	t.Parallel()
	parent := valid()
	parent.Ceiling = roles.User
	child := Child(parent)
	if child.Parent != "s1" || child.Session == "s1" || child.Session == "" {
		t.Errorf("child %+v", child)
	}
	if child.Caller != parent.Caller || child.Ceiling != roles.User || child.Channel != parent.Channel {
		t.Errorf("child lost something: %+v", child)
	}
	if err := child.Validate(); err != nil {
		t.Error(err)
	}
	if grand := Child(child); grand.Parent != child.Session || grand.Ceiling != roles.User {
		t.Errorf("grandchild %+v", grand)
	}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ resolved, ceiling, want roles.Role }{
		{roles.Admin, roles.None, roles.Admin},
		{roles.Admin, roles.User, roles.User},
		{roles.Admin, roles.Guest, roles.Guest},
		{roles.Guest, roles.Admin, roles.Guest},
		{roles.User, roles.User, roles.User},
		{roles.None, roles.Admin, roles.None},
		{roles.None, roles.None, roles.None},
		{7, roles.None, roles.None},
		{7, roles.User, roles.None},
		{roles.Admin, 7, roles.None},
		{roles.Admin, -1, roles.None},
	} {
		o := valid()
		o.Ceiling = tt.ceiling
		asked := roles.Caller{}
		got := Effective(o, func(c roles.Caller) roles.Role { asked = c; return tt.resolved })
		if got != tt.want || asked != o.Caller {
			t.Errorf("resolved %d, ceiling %d: %v, want %v (asked %+v)", tt.resolved, tt.ceiling, got, tt.want, asked)
		}
	}
	if got := Effective(valid(), nil); got != roles.None {
		t.Errorf("without a resolver: %v", got)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	if _, ok := FromContext(context.Background()); ok {
		t.Error("an origin out of nothing")
	}
	if _, ok := FromContext(WithOrigin(context.Background(), Origin{})); ok {
		t.Error("an origin without a session was accepted")
	}
	if o, ok := FromContext(WithOrigin(context.Background(), valid())); !ok || o != valid() {
		t.Errorf("got %+v, %v", o, ok)
	}
}

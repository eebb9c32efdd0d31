package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/maishell/maishell/roles"
)

// maxField bounds every text of an origin, in bytes.
const maxField = 256

// NewID returns a fresh random session id: 12 lower-case base32 characters (60 bits).
func NewID() string { return strings.ToLower(rand.Text()[:12]) }

// Validate says what is wrong with an origin that an entrance made; nobody may pass on one that fails.
func (o Origin) Validate() error {
	for _, f := range []struct {
		name, value string
		required    bool
	}{
		{"session", o.Session, true},
		{"channel", o.Channel, true},
		{"platform", o.Caller.Platform, true},
		{"parent", o.Parent, false},
		{"user id", o.Caller.UserID, false},
		{"group id", o.Caller.GroupID, false},
	} {
		if err := checkField(f.value, f.required); err != nil {
			return fmt.Errorf("origin: %s: %w", f.name, err)
		}
	}
	switch {
	case strings.Contains(o.Caller.Platform, ":"):
		return errors.New("origin: platform: contains a colon")
	case o.Parent == o.Session:
		return errors.New("origin: a session cannot be its own parent")
	case o.Ceiling != roles.None && !o.Ceiling.AtLeast(roles.Guest):
		return fmt.Errorf("origin: unknown ceiling %d", int(o.Ceiling))
	}
	return nil
}

func checkField(s string, required bool) error {
	switch {
	case required && strings.TrimSpace(s) == "":
		return errors.New("is empty")
	case len(s) > maxField:
		return fmt.Errorf("is longer than %d bytes", maxField)
	case !utf8.ValidString(s):
		return errors.New("is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("contains a control character")
	}
	return nil
}

// Child returns the origin of a session that the parent opens: the same caller, channel and ceiling, a new id.
func Child(parent Origin) Origin {
	child := parent
	child.Parent = parent.Session
	child.Session = NewID()
	return child
}

// Effective is the role that a call from o has now: what resolve says about its caller, at most the ceiling. An
// unknown role, an invalid ceiling or a nil resolve gives roles.None, which passes no check.
func Effective(o Origin, resolve func(roles.Caller) roles.Role) roles.Role {
	if resolve == nil {
		return roles.None
	}
	ceiling := o.Ceiling
	if ceiling == roles.None {
		ceiling = roles.Admin
	}
	return roles.Min(resolve(o.Caller), ceiling)
}

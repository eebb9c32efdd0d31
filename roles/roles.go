package roles

import (
	"fmt"
	"strings"
)

// Role is a rank. The zero value is no role at all: it never passes a check and nothing passes against it.
type Role int

// The roles, weakest first.
const (
	None Role = iota
	Guest
	User
	Admin
)

// AtLeast reports whether r may do what needs min. An unknown or zero value on either side answers false.
func (r Role) AtLeast(min Role) bool {
	return r.known() && min.known() && r >= min
}

func (r Role) known() bool { return r >= Guest && r <= Admin }

// String returns guest, user, admin, or none for anything else.
func (r Role) String() string {
	switch r {
	case Guest:
		return "guest"
	case User:
		return "user"
	case Admin:
		return "admin"
	}
	return "none"
}

// Parse reads guest, user or admin (any case, no surrounding space allowed).
func Parse(s string) (Role, error) {
	// ToLower, not EqualFold: Unicode folding would take "uſer" for user.
	for _, r := range []Role{Guest, User, Admin} {
		if strings.ToLower(s) == r.String() {
			return r, nil
		}
	}
	return None, fmt.Errorf("unknown role %q: want guest, user or admin", s)
}

// Min returns the weaker of the two; an unknown role on either side gives None.
func Min(a, b Role) Role {
	if !a.known() || !b.known() {
		return None
	}
	return min(a, b)
}

package roles

import (
	"fmt"
	"strings"
)

// LocalPlatform is the platform of callers at this machine's own terminal. Only that entrance may set it.
const LocalPlatform = "local"

// Lists is the [permission] section. The zero value makes everybody a guest.
//
// Persons are written platform:user_id, groups platform:group:group_id; the platform ends at the first colon and the
// rest is compared as a whole, case included. Blank entries are skipped, duplicates do no harm, anything else
// that could never match is an error of NewResolver.
type Lists struct {
	Admins      []string
	AdminGroups []string
	Users       []string
	UserGroups  []string
	// AdminInGroupChats lets a person of Admins keep the role in groups; otherwise he is a User there.
	AdminInGroupChats bool
	// LocalRole is the role of an unlisted local:<os user> outside groups. None: Guest.
	LocalRole Role
}

// The rules that a Resolution names.
const (
	RuleAdmins      = "admins"
	RuleAdminGroups = "admin_groups"
	RuleUsers       = "users"
	RuleUserGroups  = "user_groups"
	RuleLocal       = "local_role"
	RuleLowered     = "admin_in_group_chats" // a listed admin who is a User because he speaks in a group
	RuleAnonymous   = "anonymous"            // no personal identity
	RuleDefault     = "default"              // not listed anywhere
)

// Resolution is the answer about one caller.
type Resolution struct {
	Role    Role
	Lowered bool   // a listed admin, made a User by the group switch; he is told so once
	Rule    string // one of the Rule constants
}

// identity keeps platform and id apart, so that no mix of colons makes two of them equal.
type identity struct{ platform, id string }

// Resolver maps callers to roles. It is immutable and safe for concurrent use; the zero value knows only guests.
type Resolver struct {
	admins, adminGroups, users, userGroups map[identity]bool

	adminInGroups bool
	local         Role
}

// NewResolver checks the lists and builds a resolver. Its errors are *EntryError, or one about LocalRole.
func NewResolver(l Lists) (*Resolver, error) {
	if l.LocalRole != None && !l.LocalRole.known() {
		return nil, fmt.Errorf("local_role: unknown role %d", int(l.LocalRole))
	}
	r := &Resolver{adminInGroups: l.AdminInGroupChats, local: l.LocalRole}
	for _, list := range []struct {
		name    string
		entries []string
		groups  bool
		into    *map[identity]bool
	}{
		{RuleAdmins, l.Admins, false, &r.admins},
		{RuleAdminGroups, l.AdminGroups, true, &r.adminGroups},
		{RuleUsers, l.Users, false, &r.users},
		{RuleUserGroups, l.UserGroups, true, &r.userGroups},
	} {
		set := make(map[identity]bool, len(list.entries))
		for i, entry := range list.entries {
			if strings.TrimSpace(entry) == "" {
				continue
			}
			key, code := parseEntry(entry, list.groups)
			if code != "" {
				return nil, &EntryError{List: list.name, Index: i, Entry: entry, Code: code}
			}
			set[key] = true
		}
		*list.into = set
	}
	return r, nil
}

// parseEntry reads one list entry; the code says why it could never match.
func parseEntry(entry string, group bool) (identity, string) {
	platform, id, ok := strings.Cut(entry, ":")
	gid, isGroup := strings.CutPrefix(id, "group:")
	switch {
	case strings.TrimSpace(entry) != entry:
		return identity{}, "roles.entry_space"
	case !ok || platform == "":
		return identity{}, "roles.entry_form"
	case group && !isGroup:
		return identity{}, "roles.entry_not_group"
	case !group && isGroup:
		return identity{}, "roles.entry_is_group"
	case group:
		id = gid
	}
	if strings.TrimSpace(id) == "" {
		return identity{}, "roles.entry_form"
	}
	return identity{platform, id}, ""
}

// Resolve answers for one caller: the first of admin person, admin group, user person, user group that matches, then
// the local role, then Guest. A listed admin ends the search also where the group switch lowers him.
func (r *Resolver) Resolve(c Caller) Resolution {
	if c.Platform == "" || strings.Contains(c.Platform, ":") || strings.TrimSpace(c.UserID) == "" {
		return Resolution{Role: Guest, Rule: RuleAnonymous}
	}
	person := identity{c.Platform, c.UserID}
	group := identity{c.Platform, c.GroupID}
	inGroup := c.GroupID != ""
	switch {
	case r.admins[person] && inGroup && !r.adminInGroups:
		return Resolution{Role: User, Lowered: true, Rule: RuleLowered}
	case r.admins[person]:
		return Resolution{Role: Admin, Rule: RuleAdmins}
	case inGroup && r.adminGroups[group]:
		return Resolution{Role: Admin, Rule: RuleAdminGroups}
	case r.users[person]:
		return Resolution{Role: User, Rule: RuleUsers}
	case inGroup && r.userGroups[group]:
		return Resolution{Role: User, Rule: RuleUserGroups}
	case c.Platform == LocalPlatform && !inGroup && r.local.known():
		return Resolution{Role: r.local, Rule: RuleLocal}
	}
	return Resolution{Role: Guest, Rule: RuleDefault}
}

// EntryError is a [permission] entry that could never match. Code is a message id of the texts catalog.
type EntryError struct {
	List  string // "admins", "admin_groups", "users", "user_groups"
	Index int    // from 0
	Entry string
	Code  string
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("%s[%d]: %q: %s", e.List, e.Index, e.Entry, e.Code)
}

// TextID returns the message id and its values: list, number of the entry from 1, entry.
func (e *EntryError) TextID() (string, []any) { return e.Code, []any{e.List, e.Index + 1, e.Entry} }

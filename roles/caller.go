package roles

// Caller is who asks, as the entrance proved it: an identity, never a role.
type Caller struct {
	Platform string // "local", "qq", "telegram", ...
	UserID   string // empty: no personal identity (anonymous, channel post), never above guest
	GroupID  string // empty: a private conversation
	Name     string // for display only; never decides anything
}

// Key is platform:user_id, or "" when the caller has no personal identity.
func (c Caller) Key() string {
	if c.Platform == "" || c.UserID == "" {
		return ""
	}
	return c.Platform + ":" + c.UserID
}

// GroupKey is platform:group:group_id, or "" outside a group.
func (c Caller) GroupKey() string {
	if c.Platform == "" || c.GroupID == "" {
		return ""
	}
	return c.Platform + ":group:" + c.GroupID
}

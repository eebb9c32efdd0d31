// Package session says where a call comes from.
//
// It owns Origin, made by an entrance and carried unchanged by everything below it, the ids of sessions, and the
// origin of a child. It never decides a role (it asks a resolver, and only lowers the answer) and never reads identity
// from arguments.
//
// Invariant: the role that an origin has is at most what its caller resolves to now, and at most its ceiling;
// whatever is unknown or invalid counts as no role.
package session

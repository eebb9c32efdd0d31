// Package roles decides which role a caller has: guest, user or admin.
//
// It owns the Role ranks, the Caller identity and the Resolver built from the [permission] lists. It never stores a
// role with a caller, never learns identities from arguments, and has no state: a Resolver is immutable, a reload
// makes a new one.
//
// Invariant: nothing raises a caller above Guest but an exact match of the whole identity with an entry of a list, or
// the configured local role for the local entrance. No personal identity means Guest, in a listed group too.
package roles

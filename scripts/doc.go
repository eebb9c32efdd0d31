// Package scripts is the Lua that deployers put around actions: guards that deny, ask or rewrite before, hooks that see
// results after, masks for secrets. It owns the engine, the module "maishell", the scripts that come with the program
// (guards/*.lua) and the tests that scripts carry (NAME_test.lua beside NAME.lua).
//
// It never starts anything, reads no file after Load, and can only tighten: there is no answer that allows.
//
// Invariants:
//   - A Set is whole: every script of the directory and every enabled one compiled, ran once and passed its tests, or
//     there is no Set. It never changes.
//   - A hook that fails, runs out of time or memory, or answers nonsense denies; after an action it withholds.
//   - Every call runs the compiled script anew in a fresh environment over read-only tables: nothing but mai.kv is carried
//     from one call to the next.
package scripts

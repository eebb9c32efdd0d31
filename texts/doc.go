// Package texts owns the sentences that people and models read: one catalog per language, embedded from the files
// in en/ and zh/, looked up by message id. It never decides anything and holds no state beside the loaded catalog.
//
// A file holds flat TOML tables; the message key in [table] has the id "table.key". A placeholder is positional
// (%[1]s, %[2]s ...) and always receives a string; a literal percent sign is written %%.
//
// Invariant (held by tests): both languages know the same ids with the same placeholders, every id that code names
// exists, and every id is named by code.
package texts

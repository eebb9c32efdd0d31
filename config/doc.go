// Package config owns the settings: it finds, reads and checks them and hands out one value that never changes.
// Defaults lie below one file, the file below MAISHELL_SECTION__KEY variables, those below flags. It never starts
// anything, keeps no state and writes no file.
//
// Invariant: a *Config that Load returns is complete and valid; where anything is wrong, Load returns every problem
// with its place instead.
package config

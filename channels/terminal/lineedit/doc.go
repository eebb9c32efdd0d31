// Package lineedit is the line at the bottom of a terminal in raw mode: it is edited there while other text is printed
// above it. It owns what keys mean, the history of lines, and what stands where on the screen.
//
// Texts to print must be safe to show (no control characters but newline and tab): the package adds the only escape
// sequences there are. Characters of two columns, as in Chinese, and of none are counted as such. Pasted text arrives
// as one line, its line ends inside; bytes that are no UTF-8 are kept.
//
// Invariant: whatever is printed at whatever moment, the edited line stays whole, and is drawn below it.
package lineedit

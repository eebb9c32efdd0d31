package keys

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// key is a key that has a name.
type key struct {
	names                  []string // the first is the one to suggest
	plain, shifted, ctrled string   // what a key for a character sends
	final                  byte     // else the end of its sequence: '~' after a number, or a letter
	number                 int
	ss3                    bool // ESC O and the letter, whatever the mode
}

// named are the keys as xterm has them, under the names of tmux and those in common use.
func named() []key {
	keys := []key{
		{names: []string{"Enter", "Return", "CR", "KPEnter", "Ret"}, plain: "\r", shifted: "\r", ctrled: "\r"},
		{names: []string{"Tab"}, plain: "\t", shifted: "\x1b[Z"},
		{names: []string{"BTab", "BackTab"}, plain: "\x1b[Z"},
		{names: []string{"Escape", "Esc"}, plain: "\x1b", shifted: "\x1b", ctrled: "\x1b"},
		{names: []string{"Space", "Spacebar", "Spc"}, plain: " ", shifted: " ", ctrled: "\x00"},
		{names: []string{"BSpace", "Backspace", "BS"}, plain: "\x7f", shifted: "\x7f", ctrled: "\b"},
		{names: []string{"Linefeed", "LF", "Newline"}, plain: "\n"},
		{names: []string{"Up", "ArrowUp", "UpArrow"}, final: 'A'},
		{names: []string{"Down", "ArrowDown", "DownArrow"}, final: 'B'},
		{names: []string{"Right", "ArrowRight", "RightArrow"}, final: 'C'},
		{names: []string{"Left", "ArrowLeft", "LeftArrow"}, final: 'D'},
		{names: []string{"Home"}, final: 'H'},
		{names: []string{"End"}, final: 'F'},
		{names: []string{"Insert", "Ins", "IC"}, final: '~', number: 2},
		{names: []string{"Delete", "Del", "DC"}, final: '~', number: 3},
		{names: []string{"PageUp", "PgUp", "PPage", "Prior", "Page_Up"}, final: '~', number: 5},
		{names: []string{"PageDown", "PgDn", "PgDown", "NPage", "Next", "Page_Down"}, final: '~', number: 6},
	}
	for i, final := range []byte("PQRS") {
		keys = append(keys, key{names: []string{"F" + strconv.Itoa(i+1)}, final: final, ss3: true})
	}
	for i, number := range []int{15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34} {
		keys = append(keys, key{names: []string{"F" + strconv.Itoa(i+5)}, final: '~', number: number})
	}
	return keys
}

// find returns the key of a name.
func find(name string) (key, bool) {
	for _, k := range named() {
		for _, n := range k.names {
			if strings.EqualFold(n, name) {
				return k, true
			}
		}
	}
	return key{}, false
}

// Names returns the names of all keys that have one, each once, in an order fit for people.
func Names() []string {
	var names []string
	for _, k := range named() {
		names = append(names, k.names[0])
	}
	return names
}

// nearest returns the names that are most like name: those that begin with it or take few changes, three at most; the
// commonest ones when none is.
func nearest(name string) []string {
	name = strings.ToLower(name)
	if len(name) > 20 {
		name = name[:20]
	}
	type guess struct {
		name string
		far  int
	}
	var guesses []guess
	for _, k := range named() {
		best := 1 << 10
		for _, n := range k.names {
			far := distance(name, strings.ToLower(n))
			if len(name) > 1 && strings.HasPrefix(strings.ToLower(n), name) {
				far = 0
			}
			best = min(best, far)
		}
		if best <= max(1, len(name)/2) {
			guesses = append(guesses, guess{k.names[0], best})
		}
	}
	slices.SortStableFunc(guesses, func(a, b guess) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, g := range guesses[:min(len(guesses), 3)] {
		names = append(names, g.name)
	}
	if names == nil {
		return []string{"Enter", "Tab", "Escape", "Up", "C-c"}
	}
	return names
}

// distance is how many letters must be changed, added or left out to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}

package redact

// automaton finds many words in one pass (Aho-Corasick over byte classes). It is immutable.
type automaton struct {
	class [256]uint16
	width uint32   // number of classes
	next  []uint32 // row of a state + class → row of the next state, with hitBit when a word ends there
	hits  [][]hit  // by state: the words that end there, longest first
	held  []uint16 // by state: how much of the text's end may be the beginning of a word that must not be shown
}

type hit struct {
	word int // index into the words
	size int // bytes
}

const (
	hitBit = 1 << 31
	rowOf  = hitBit - 1
)

// newAutomaton builds the automaton of words; with fold, ASCII letters match in any case. shown says of which words
// the beginning may be shown before the rest is known.
func newAutomaton(words []string, fold bool, shown func(word int) bool) *automaton {
	a := &automaton{width: 1} // class 0: a byte that is in no word
	for _, w := range words {
		for i := range len(w) {
			b := w[i]
			if fold {
				b = lower(b)
			}
			if a.class[b] == 0 {
				a.class[b] = uint16(a.width)
				a.width++
			}
		}
	}
	if fold {
		for b := byte('A'); b <= 'Z'; b++ {
			a.class[b] = a.class[lower(b)]
		}
	}
	a.grow()
	for i, w := range words {
		a.insert(i, w, !shown(i))
	}
	a.link()
	return a
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b | 0x20
	}
	return b
}

func (a *automaton) grow() uint32 {
	s := uint32(len(a.hits))
	a.next = append(a.next, make([]uint32, a.width)...)
	a.hits = append(a.hits, nil)
	a.held = append(a.held, 0)
	return s
}

// insert adds a word to the trie. Until link has run, next holds state numbers and 0 means none.
func (a *automaton) insert(word int, w string, hold bool) {
	s := uint32(0)
	for i := range len(w) {
		at := s*a.width + uint32(a.class[w[i]])
		if a.next[at] == 0 {
			a.next[at] = a.grow()
		}
		s = a.next[at]
		if hold {
			a.held[s] = uint16(i + 1)
		}
	}
	a.hits[s] = append(a.hits[s], hit{word: word, size: len(w)})
}

// link turns the trie into a table without failure steps, breadth first.
func (a *automaton) link() {
	fail := make([]uint32, len(a.hits))
	queue := make([]uint32, 1, len(a.hits))
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		f := fail[s]
		if s != 0 {
			a.hits[s] = append(a.hits[s], a.hits[f]...)
			if a.held[s] == 0 {
				a.held[s] = a.held[f]
			}
		}
		for c := range a.width {
			t := a.next[s*a.width+c]
			switch {
			case t != 0:
				if s != 0 {
					fail[t] = a.next[f*a.width+c]
				}
				queue = append(queue, t)
			case s != 0:
				a.next[s*a.width+c] = a.next[f*a.width+c]
			}
		}
	}
	for i, t := range a.next {
		a.next[i] = t * a.width
		if len(a.hits[t]) > 0 {
			a.next[i] |= hitBit
		}
	}
}

// step returns the row after b; hitBit is set in it when a word ends here.
func (a *automaton) step(row uint32, b byte) uint32 {
	return a.next[row&rowOf+uint32(a.class[b])]
}

// at returns the words that end in the state of row, longest first.
func (a *automaton) at(row uint32) []hit { return a.hits[row&rowOf/a.width] }

// hold is how many bytes at the end of the text may begin a word that must not be shown.
func (a *automaton) hold(row uint32) int { return int(a.held[row&rowOf/a.width]) }

// finds says whether any word is in text.
func (a *automaton) finds(text []byte) bool {
	row := uint32(0)
	for _, b := range text {
		if row = a.step(row, b); row&hitBit != 0 {
			return true
		}
	}
	return false
}

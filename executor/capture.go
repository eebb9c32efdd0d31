package executor

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/maishell/maishell/executor/readable"
	"github.com/maishell/maishell/redact"
)

// maxCharBytes is the longest character in any supported encoding.
const maxCharBytes = 4

// collector keeps the beginning and the end of one output stream. Its memory is bounded by maxChars and the longest
// secret, whatever is written, and grows with the output: no output costs nothing. Write copies at most what it keeps.
type collector struct {
	maxChars int
	page     string
	set      *redact.Set
	overlap  int // longest secret, bytes of UTF-8
	limit    int // bytes kept of each end

	mu    sync.Mutex
	head  []byte
	tail  []byte // ring once len(tail) == limit; the oldest byte is then at next
	next  int
	total int64
	rest  tally // of everything after head
	last  time.Time
	done  bool
	out   Output
}

// newCollector returns a collector for maxChars ≥ 1 characters. codePage is a name that ParseCodePage accepts; nil set:
// nothing is masked.
func newCollector(maxChars int, codePage string, set *redact.Set) *collector {
	c := &collector{maxChars: maxChars, page: strings.TrimSpace(codePage), set: set}
	if set != nil {
		c.overlap = set.Overlap()
	}
	// Both ends together hold maxChars characters of any length, so what fits is never cut. Each end holds half of them
	// and one secret more: a secret that lies across a cut is seen whole.
	c.limit = maxCharBytes*(maxChars-maxChars/2) + 2*c.overlap + maxCharBytes
	return c
}

// Write takes output in. It never fails; after finish it discards.
func (c *collector) Write(p []byte) (int, error) {
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return n, nil
	}
	c.last = now
	c.total += int64(n)
	if room := c.limit - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head = append(c.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > 0 {
		c.rest.add(p)
		c.keepLast(p)
	}
	return n, nil
}

// keepLast puts p into the ring.
func (c *collector) keepLast(p []byte) {
	if len(p) >= c.limit {
		c.tail = append(c.tail[:0], p[len(p)-c.limit:]...)
		c.next = 0
		return
	}
	if room := c.limit - len(c.tail); room > 0 {
		k := min(room, len(p))
		c.tail = append(c.tail, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(c.tail[c.next:], p)
		c.next = (c.next + k) % c.limit
		p = p[k:]
	}
}

// lastWrite returns when output last came, zero if none did.
func (c *collector) lastWrite() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// peekBytes is how much of the end peek shows at most.
const peekBytes = 4 << 10

// peek returns the end of what was captured so far, decoded and masked; nothing after finish. What may be the beginning of
// a secret whose rest is still to come is held back, and so is whatever a secret may lie in whose beginning is not looked at.
func (c *collector) peek() string {
	window, whole := c.newest(peekBytes + c.overlap + maxCharBytes)
	if len(window) == 0 {
		return ""
	}
	for i := 0; !whole && i < maxCharBytes && len(window) > 0 && !utf8.RuneStart(window[0]); i++ {
		window = window[1:]
	}
	text, _, _, _ := decodeEnds(ends{head: window}, c.page)
	text = strings.TrimSuffix(text, replacement) // the rest of a character may still come
	if c.set != nil {
		text = string(c.set.Stream().Write([]byte(text)))
	}
	if !whole {
		text = dropStart(text, c.overlap)
	}
	return c.clean(text)
}

// newest returns a copy of the last n bytes captured, or fewer, and whether they are all there were.
func (c *collector) newest(n int) (p []byte, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return nil, true
	}
	p = append(append(p, c.tail[c.next:]...), c.tail[:c.next]...)
	if int64(len(c.head)+len(p)) == c.total {
		p = append(append(make([]byte, 0, len(c.head)+len(p)), c.head...), p...)
	}
	p = p[max(0, len(p)-n):]
	return p, int64(len(p)) == c.total
}

// finish returns what was captured, decoded, masked and cut to maxChars, and makes later writes be discarded. Repeated
// calls return the same.
func (c *collector) finish() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return c.out
	}
	c.done = true
	e := ends{head: c.head, tail: c.tail}
	if c.next > 0 {
		e.tail = append(append(make([]byte, 0, c.limit), c.tail[c.next:]...), c.tail[:c.next]...)
	}
	e.tailAt = c.total - int64(len(e.tail))
	if e.cut = e.tailAt > int64(len(e.head)); !e.cut {
		e = ends{head: append(e.head, e.tail...)}
	}
	c.out = c.output(e)
	c.out.TotalBytes = c.total
	c.head, c.tail = nil, nil
	return c.out
}

func (c *collector) output(e ends) Output {
	if len(e.head) == 0 {
		return Output{}
	}
	if is, kind := readable.Binary(e.head); is {
		return Output{Binary: true, Kind: kind, OmittedChars: max(c.total, 1)}
	}
	headText, tailText, omitted, codec := decodeEnds(e, c.page)
	headChars, tailChars := c.maxChars-c.maxChars/2, c.maxChars/2
	headText = c.mask(headText)
	if !e.cut {
		headText = c.clean(headText)
		if len(headText) <= c.maxChars || runes(headText) <= c.maxChars {
			return Output{Head: headText}
		}
		head := firstChars(headText, headChars)
		middle := headText[len(head):]
		tail := lastChars(middle, tailChars)
		return Output{Head: head, Tail: tail, OmittedChars: int64(runes(middle) - runes(tail))}
	}
	tailText = c.mask(tailText)
	dropped := c.rest
	var kept tally
	kept.add(e.tail)
	dropped.sub(kept)
	omitted += codec.chars(dropped)
	// A secret that lies across the dropped part was not recognised; its piece is at the inner edge, unmasked, and
	// shorter than overlap.
	omitted += int64(runes(headText) + runes(tailText))
	headText, tailText = dropEnd(headText, c.overlap), dropStart(tailText, c.overlap)
	omitted -= int64(runes(headText) + runes(tailText))
	headText, tailText = c.clean(headText), c.clean(tailText)
	head, tail := firstChars(headText, headChars), lastChars(tailText, tailChars)
	omitted += int64(runes(headText) - runes(head) + runes(tailText) - runes(tail))
	return Output{Head: head, Tail: tail, OmittedChars: max(omitted, 1)}
}

// clean is text as a person would have seen it on a terminal. A secret that was interrupted by a sequence is whole then.
func (c *collector) clean(s string) string {
	if seen := readable.Text(s); seen != s {
		return c.mask(seen)
	}
	return s
}

func (c *collector) mask(s string) string {
	if c.set == nil || s == "" {
		return s
	}
	return c.set.String(s)
}

// Text joins both ends into at most limit characters, with a line of its own between them saying what is missing: note
// gets the number of characters that are not shown. Text that is whole is returned as it is.
func (o Output) Text(limit int, note func(omitted int64) string) string {
	if !o.Truncated() {
		return o.Head
	}
	headChars, tailChars := runes(o.Head), runes(o.Tail)
	// The largest number makes the longest note; two more for the line breaks around it.
	room := max(0, limit-runes(note(o.OmittedChars+int64(headChars+tailChars)))-2)
	tail := lastChars(o.Tail, max(room/2, room-headChars))
	head := firstChars(o.Head, room-runes(tail))
	var text strings.Builder
	text.WriteString(head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		text.WriteByte('\n')
	}
	text.WriteString(note(o.OmittedChars + int64(headChars-runes(head)+tailChars-runes(tail))))
	if tail != "" {
		text.WriteByte('\n')
		text.WriteString(tail)
	}
	return firstChars(text.String(), limit)
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// dropEnd returns s without its last n bytes or a few more, at the beginning of a character.
func dropEnd(s string, n int) string {
	end := max(len(s)-n, 0)
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// dropStart returns s without its first n bytes or a few more, at the beginning of a character.
func dropStart(s string, n int) string {
	n = min(n, len(s))
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return s[n:]
}

// maxCluster bounds how many characters a cut moves to keep what belongs together in one piece.
const maxCluster = 8

// firstChars returns at most n characters from the start of s.
func firstChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	for at, tries := end, 0; tries < maxCluster; tries++ {
		if !joined(s, at) {
			return s[:at]
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[:end]
}

// lastChars returns at most n characters from the end of s.
func lastChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	start := len(s)
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	for at, tries := start, 0; tries < maxCluster; tries++ {
		if !joined(s, at) {
			return s[at:]
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[start:]
}

// joined reports whether the characters on both sides of s[at] belong together: CR LF, or a base and what modifies it.
func joined(s string, at int) bool {
	if at == 0 || at >= len(s) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	const zeroWidthJoiner = '\u200d'
	return before == '\r' && after == '\n' ||
		after >= 0x300 && (unicode.Is(unicode.M, after) || after == zeroWidthJoiner || before == zeroWidthJoiner ||
			after >= 0x1F3FB && after <= 0x1F3FF) // skin tones
}

// tally counts what lies in a stretch of bytes, for any encoding it may turn out to have.
type tally struct {
	bytes  int64
	high   int64 // bytes ≥ 0x80
	starts int64 // bytes that do not continue a UTF-8 character
}

func (t *tally) sub(o tally) {
	t.bytes -= o.bytes
	t.high -= o.high
	t.starts -= o.starts
}

// add counts p. Output is mostly ASCII, where a block costs eight loads; it runs on every byte that is dropped.
func (t *tally) add(p []byte) {
	const highBits, block = 0x8080808080808080, 64
	var high, continued int
	t.bytes += int64(len(p))
	t.starts += int64(len(p))
	for len(p) >= block {
		b := p[:block:block]
		p = p[block:]
		le := binary.LittleEndian
		w0, w1, w2, w3 := le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
		w4, w5, w6, w7 := le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:]), le.Uint64(b[56:])
		if (w0|w1|w2|w3|w4|w5|w6|w7)&highBits == 0 {
			continue
		}
		for _, w := range [...]uint64{w0, w1, w2, w3, w4, w5, w6, w7} {
			high += bits.OnesCount64(w & highBits)
			continued += bits.OnesCount64(w & ^(w << 1) & highBits)
		}
	}
	for _, c := range p {
		if c >= utf8.RuneSelf {
			high++
			if !utf8.RuneStart(c) {
				continued++
			}
		}
	}
	t.high += int64(high)
	t.starts -= int64(continued)
}

package config

import "strings"

// nearest returns the setting that whoever wrote key most likely meant, or nothing.
func nearest(key string, valid []string) string {
	best, bestScore := "", 0
	for _, v := range valid {
		if score := similarity(key, v); score > bestScore {
			best, bestScore = v, score
		}
	}
	return best
}

// similarity is 0 when a is hardly meant to be b, otherwise higher the more alike they are.
func similarity(a, b string) int {
	const same = 1000
	lastA, lastB := last(a), last(b)
	if strings.TrimSuffix(a, lastA) == strings.TrimSuffix(b, lastB) && distance(lastA, lastB) == 1 { // one letter off
		return same + 1
	}
	if lastA == lastB { // the right key in the wrong section
		return same - distance(a, b)
	}
	d := distance(a, b)
	if len(lastA) >= 4 && (strings.HasPrefix(lastB, lastA) || strings.HasPrefix(lastA, lastB)) {
		d = min(d, 1+distance(strings.TrimSuffix(a, lastA), strings.TrimSuffix(b, lastB)))
	}
	if d > 1+len(lastA)/3 {
		return 0
	}
	return same/2 - d
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance is the number of letters to add, remove, replace or swap with their neighbour to make b of a.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	const most = 64 // nobody means a setting with a longer name
	if len(s) > most {
		s = s[:most]
	}
	before, row, next := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		next[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(t)]
}

package sqlparse

import "strings"

// Nearest returns the word that differs from s by at most two edits, case
// aside, for a "did you mean"; "" where there is none, or s is too short to tell.
func Nearest(s string, words []string) string {
	const longest = 64
	s = strings.ToUpper(s)
	if len(s) < 2 || len(s) > longest {
		return ""
	}
	best, at := "", min(3, len(s)/2+1)
	for _, w := range words {
		if len(w) > longest {
			continue
		}
		if d := distance(s, strings.ToUpper(w)); d < at {
			best, at = w, d
		}
	}
	return best
}

// distance is the number of edits (insert, delete, replace, swap neighbours)
// from a to b.
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last = last, row
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

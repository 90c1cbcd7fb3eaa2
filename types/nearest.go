package types

import "strings"

// Nearest returns the word that name was most likely meant to be, for a "did you mean": the first of those
// that differ by the fewest edits, case aside, at most most of them and no more than half of the name. An
// edit is a letter more, less or other, or two neighbours swapped. "" says that there is none, or that name
// is too short or too long to tell.
func Nearest(name string, words []string, most int) string {
	const longest = 200
	if len(name) > longest {
		return ""
	}
	most = min(most, len(name)/2)
	name = strings.ToUpper(name)
	best := ""
	for _, w := range words {
		if len(w)-len(name) > most || len(name)-len(w) > most {
			continue
		}
		if d := edits(name, strings.ToUpper(w)); d <= most {
			best, most = w, d-1
		}
	}
	return best
}

// edits is the number of edits from a to b.
func edits(a, b string) int {
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

package session

import (
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/sqlparse"
)

// filterLike keeps the names that a SHOW's LIKE clause admits.
func filterLike(names []string, like *sqlparse.ShowLike) []string {
	if like == nil {
		return names
	}
	pattern := like.Pattern.Text
	if like.IgnoreCase {
		pattern = strings.ToLower(pattern)
	}
	var kept []string
	for _, name := range names {
		subject := name
		if like.IgnoreCase {
			subject = strings.ToLower(name)
		}
		if matchLike(subject, pattern) != like.Not {
			kept = append(kept, name)
		}
	}
	return kept
}

// matchLike matches the pattern of a SHOW statement: % is any text, _ one character, and a backslash
// takes the meaning from what follows it. It goes back to the last % only, so it is never slower than
// the product of the lengths.
func matchLike(s, pattern string) bool {
	si, pi := 0, 0
	starS, starP := 0, -1 // where to go on after the last %
	for si < len(s) {
		r, size := utf8.DecodeRuneInString(s[si:])
		if pi < len(pattern) {
			p, psize := utf8.DecodeRuneInString(pattern[pi:])
			switch {
			case p == '%':
				starS, starP = si, pi+1
				pi++
				continue
			case p == '\\' && pi+psize < len(pattern):
				q, qsize := utf8.DecodeRuneInString(pattern[pi+psize:])
				if q == r {
					si, pi = si+size, pi+psize+qsize
					continue
				}
			case p == '_' || p == r:
				si, pi = si+size, pi+psize
				continue
			}
		}
		if starP < 0 {
			return false
		}
		_, skip := utf8.DecodeRuneInString(s[starS:])
		starS += skip
		si, pi = starS, starP
	}
	return strings.Trim(pattern[pi:], "%") == ""
}

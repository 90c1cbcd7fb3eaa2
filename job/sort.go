package job

import (
	"strings"

	"github.com/sluice-sql/sluice/expr"
)

// SortKey is one key of an ORDER BY.
type SortKey struct {
	Expr      Expr `json:"expr"`
	Desc      bool `json:"desc,omitempty"`
	NullsLast bool `json:"nullsLast,omitempty"`
}

// Sort orders its input, stably. With Count of 0 or more it is a Top-N that keeps Count rows after
// skipping Offset; Count is -1 for a whole sort.
type Sort struct {
	Keys   []SortKey `json:"keys"`
	Count  int64     `json:"count"`
	Offset int64     `json:"offset"`
}

// Op returns "sort".
func (*Sort) Op() string { return "sort" }

// Describe returns keys and counts.
func (s *Sort) Describe() string {
	parts := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		parts[i] = expr.String(k.Expr.Expr)
		if k.Desc {
			parts[i] += " DESC"
		}
		if k.NullsLast != k.Desc { // NULL sorts lowest: last when descending
			parts[i] += map[bool]string{true: " NULLS LAST", false: " NULLS FIRST"}[k.NullsLast]
		}
	}
	name := "Sort"
	if s.Count >= 0 {
		name = "TopN"
	}
	d := name + " [" + strings.Join(parts, ", ") + "]"
	if c := counts(s.Count, s.Offset); c != "" {
		d += " " + c
	}
	return d
}

package plan

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// SortKey is one key of an ORDER BY.
type SortKey struct {
	Expr      expr.Expr
	Desc      bool
	NullsLast bool
}

// Sort orders its input, stably. With Count of 0 or more it keeps Count rows after skipping Offset; Count
// is -1 for a whole sort, whose Offset is 0.
type Sort struct {
	Input  Node
	Keys   []SortKey
	Count  int64
	Offset int64
}

// NewSort returns a sort of in.
func NewSort(in Node, keys []SortKey, count, offset int64) *Sort {
	return &Sort{in, keys, count, offset}
}

// Schema returns the input's columns.
func (s *Sort) Schema() types.Schema { return s.Input.Schema() }

// Children returns the input.
func (s *Sort) Children() []Node { return []Node{s.Input} }

// WithChildren returns the sort of another input.
func (s *Sort) WithChildren(c []Node) Node { return NewSort(c[0], s.Keys, s.Count, s.Offset) }

// Describe returns keys and counts.
func (s *Sort) Describe() string {
	parts := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		parts[i] = expr.String(k.Expr) + " ASC"
		if k.Desc {
			parts[i] = expr.String(k.Expr) + " DESC"
		}
		if k.NullsLast != k.Desc { // NULL sorts lowest: first when ascending, last when descending
			parts[i] += map[bool]string{true: " NULLS LAST", false: " NULLS FIRST"}[k.NullsLast]
		}
	}
	order := "orderBy=[" + strings.Join(parts, ", ") + "]"
	if s.Count < 0 {
		return "Sort(" + order + ")"
	}
	return fmt.Sprintf("TopN(%s, offset=[%d], fetch=[%d])", order, s.Offset, s.Count)
}

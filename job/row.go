package job

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/expr"
)

// Filter keeps the rows for which Predicate is TRUE.
type Filter struct {
	Predicate Expr `json:"predicate"`
}

// Op returns "filter".
func (*Filter) Op() string { return "filter" }

// Describe returns the predicate.
func (f *Filter) Describe() string { return "Filter " + expr.String(f.Predicate.Expr) }

// Project computes each output column from the input's.
type Project struct {
	Exprs []Expr `json:"exprs"`
}

// Op returns "project".
func (*Project) Op() string { return "project" }

// Describe returns the expressions.
func (p *Project) Describe() string { return "Project [" + describe(p.Exprs) + "]" }

// Limit keeps Count rows (all when it is -1) after skipping Offset, in input order.
type Limit struct {
	Count  int64 `json:"count"`
	Offset int64 `json:"offset"`
}

// Op returns "limit".
func (*Limit) Op() string { return "limit" }

// Describe returns the counts.
func (l *Limit) Describe() string { return "Limit " + counts(l.Count, l.Offset) }

func counts(count, offset int64) string {
	var parts []string
	if count >= 0 {
		parts = append(parts, fmt.Sprintf("limit=%d", count))
	}
	if offset > 0 {
		parts = append(parts, fmt.Sprintf("offset=%d", offset))
	}
	return strings.Join(parts, " ")
}

// Union concatenates its inputs in order (UNION ALL).
type Union struct{}

// Op returns "union".
func (*Union) Op() string { return "union" }

// Describe returns the name.
func (*Union) Describe() string { return "UnionAll" }

// SingleRow turns its input into exactly one row, as a scalar subquery does: NULLs for no row, an error
// at At for more than one.
type SingleRow struct {
	At expr.Span `json:"at"`
}

// Op returns "single-row".
func (*SingleRow) Op() string { return "single-row" }

// Describe returns the name.
func (*SingleRow) Describe() string { return "SingleRow" }

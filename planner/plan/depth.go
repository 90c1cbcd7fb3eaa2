package plan

import "github.com/sluice-sql/sluice/expr"

// Expressions must fit the serialised form, which nests two levels for each of theirs and is read with a
// limit of 10,000.
const (
	// MaxBoundDepth is how deep an expression may be that a user writes.
	MaxBoundDepth = 2000
	// MaxDepth is how deep one may become when expressions are put into each other.
	MaxDepth = 4000
)

// Depth returns how many expressions stand one inside the other, at most.
func Depth(e expr.Expr) int {
	most := 0
	for _, c := range expr.Children(e) {
		most = max(most, Depth(c))
	}
	return most + 1
}

package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// filterThroughUnnest filters rows before their elements are listed, where a condition is about the row alone.
// It then meets rows without elements, too, and so must not be able to fail.
func filterThroughUnnest(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	u, ok := f.Input.(*plan.Unnest)
	if !ok {
		return n, false
	}
	move, stay := split(plan.Conjuncts(f.Condition), func(c expr.Expr) bool {
		for _, i := range expr.Columns(c) {
			if i >= len(u.Columns) {
				return false
			}
		}
		return !expr.Fallible(c)
	})
	if len(move) == 0 {
		return n, false
	}
	for i, c := range move {
		move[i] = expr.Remap(c, func(i int) int { return u.Columns[i] })
	}
	return filtered(u.With(filtered(u.Input, move), u.Arg, u.Columns), stay), true
}

package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// filterThroughAggregate moves conjuncts over the keys of a grouping below it: they keep or drop whole
// groups. Without keys there is a group also for no rows, so that nothing moves.
func filterThroughAggregate(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	a, ok := f.Input.(*plan.Aggregate)
	if !ok || len(a.Keys) == 0 {
		return n, false
	}
	move, stay := split(plan.Conjuncts(f.Condition), func(c expr.Expr) bool {
		cols := expr.Columns(c)
		for _, i := range cols {
			if i >= len(a.Keys) || !pure(a.Keys[i]) {
				return false
			}
		}
		return len(cols) > 0 && pure(c) && fits(c, a.Keys)
	})
	if len(move) == 0 {
		return n, false
	}
	for i, c := range move {
		move[i] = substitute(c, a.Keys)
	}
	return filtered(a.WithChildren([]plan.Node{filtered(a.Input, move)}), stay), true
}

package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// mergeFilters makes one filter of two. A filter narrows the rows by one conjunct after the other, so that
// those of the upper one still meet only what the lower one lets through.
func mergeFilters(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	upper, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	lower, ok := upper.Input.(*plan.Filter)
	if !ok {
		return n, false
	}
	conds := append(plan.Conjuncts(lower.Condition), plan.Conjuncts(upper.Condition)...)
	return plan.NewFilter(lower.Input, plan.And(conds)), true
}

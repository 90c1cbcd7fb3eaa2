package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// filterToScan hands the conjuncts that a table takes to its scan. The filter stays and is applied again
// to what the table gives.
func filterToScan(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	s, ok := f.Input.(*plan.Scan)
	if !ok || s.Table.Pushes == nil || s.Limit >= 0 {
		return n, false
	}
	filters := s.Filters
	for _, c := range plan.Conjuncts(f.Condition) {
		if !pure(c) {
			continue
		}
		c = expr.Remap(c, func(i int) int { return s.Columns[i] })
		if !holds(filters, c) && s.Table.Pushes(c) {
			filters = append(filters[:len(filters):len(filters)], c)
		}
	}
	if len(filters) == len(s.Filters) {
		return n, false
	}
	return plan.NewFilter(plan.NewScan(s.Table, s.Columns, filters, -1), f.Condition), true
}

func holds(list []expr.Expr, e expr.Expr) bool {
	for _, x := range list {
		if expr.Equal(x, e) {
			return true
		}
	}
	return false
}

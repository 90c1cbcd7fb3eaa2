package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// filterThroughSort filters before a whole sort, which then has less to do.
func filterThroughSort(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	s, ok := f.Input.(*plan.Sort)
	if !ok || s.Count >= 0 {
		return n, false
	}
	return s.WithChildren([]plan.Node{plan.NewFilter(s.Input, f.Condition)}), true
}

package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
)

// buildSmallSide puts the side of an inner join that is known to be small to the right, where a join keeps
// its rows, if the other is not known to be smaller.
func buildSmallSide(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	j, ok := n.(*plan.Join)
	if !ok || j.Kind != job.Inner {
		return n, false
	}
	l, r := mostRows(j.Left), mostRows(j.Right)
	if l < 0 || r >= 0 && r <= l {
		return n, false
	}
	return plan.Swap(j), true
}

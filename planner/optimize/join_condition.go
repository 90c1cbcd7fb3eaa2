package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
)

// joinCondition moves conditions of ON that cannot fail and read one side only below the join, where that
// side loses nothing by it: a row that an outer join keeps anyway must stay.
func joinCondition(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	j, ok := n.(*plan.Join)
	if !ok || j.Residual == nil {
		return n, false
	}
	width := plan.Width(j.Left)
	toLeft, toRight := j.Kind == job.Inner || j.Kind == job.Right, j.Kind == job.Inner || j.Kind == job.Left
	var left, right, stay []expr.Expr
	for _, c := range plan.Conjuncts(j.Residual) {
		side := plan.Sides(c, width)
		switch {
		case pure(c) && side == plan.OnLeft && toLeft:
			left = append(left, c)
		case pure(c) && side == plan.OnRight && toRight:
			right = append(right, expr.Shift(c, -width))
		default:
			stay = append(stay, c)
		}
	}
	if len(left)+len(right) == 0 {
		return n, false
	}
	return plan.NewJoin(j.Kind, filtered(j.Left, left), filtered(j.Right, right), j.LeftKeys, j.RightKeys, plan.And(stay)), true
}

package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
)

// filterThroughJoin moves conjuncts that cannot fail into a join: those of one side below it where that
// side's rows are not made up by the join; equalities between the sides of an inner join into its keys,
// other conditions into its residual. One that may fail stays above, where it meets joined rows only.
func filterThroughJoin(n plan.Node, env *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	j, ok := f.Input.(*plan.Join)
	if !ok {
		return n, false
	}
	width := plan.Width(j.Left)
	inner := j.Kind == job.Inner
	toLeft, toRight := inner || j.Kind == job.Left, inner || j.Kind == job.Right
	var left, right, stay, residual []expr.Expr
	lk, rk := j.LeftKeys, j.RightKeys
	for _, c := range plan.Conjuncts(f.Condition) {
		side := plan.Sides(c, width)
		switch {
		case !pure(c):
			stay = append(stay, c)
		case side == plan.OnLeft && toLeft:
			left = append(left, c)
		case side == plan.OnRight && toRight:
			right = append(right, expr.Shift(c, -width))
		case side == plan.OnBoth && inner:
			if l, r, ok := plan.Equality(c, width); ok {
				lk, rk = append(lk[:len(lk):len(lk)], l), append(rk[:len(rk):len(rk)], r)
			} else {
				residual = append(residual, c)
			}
		default:
			stay = append(stay, c)
		}
	}
	if len(left)+len(right)+len(residual) == 0 && len(lk) == len(j.LeftKeys) {
		return n, false
	}
	all := append(plan.Conjuncts(j.Residual), residual...)
	// A chain of joins leans to the left: what goes there goes on at once, not one join a pass.
	below, _ := filterThroughJoin(filtered(j.Left, left), env)
	return filtered(plan.NewJoin(j.Kind, below, filtered(j.Right, right), lk, rk, plan.And(all)), stay), true
}

package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
)

// outerToInner narrows an outer join below a filter that is never TRUE for the rows it makes up with NULLs.
func outerToInner(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	j, ok := f.Input.(*plan.Join)
	if !ok || j.Kind == job.Inner {
		return n, false
	}
	width := plan.Width(j.Left)
	noLeft, noRight := j.Kind == job.Right || j.Kind == job.Full, j.Kind == job.Left || j.Kind == job.Full
	for _, c := range plan.Conjuncts(f.Condition) {
		// Only what stands before the first conjunct that may fail: that one would have met the rows.
		if !pure(c) {
			break
		}
		if col := rejectsNull(c, width); col != plan.OnNeither {
			noLeft = noLeft && col&plan.OnLeft == 0
			noRight = noRight && col&plan.OnRight == 0
		}
	}
	kind := map[[2]bool]job.JoinKind{{false, false}: job.Inner, {false, true}: job.Left, {true, false}: job.Right, {true, true}: job.Full}[[2]bool{noLeft, noRight}]
	if kind == j.Kind {
		return n, false
	}
	return plan.NewFilter(plan.NewJoin(kind, j.Left, j.Right, j.LeftKeys, j.RightKeys, j.Residual), f.Condition), true
}

// rejectsNull returns the sides of a join that cannot be all NULL when the condition is TRUE.
func rejectsNull(c expr.Expr, width int) plan.Side {
	call, ok := c.(*expr.Call)
	if !ok {
		return plan.OnNeither
	}
	args := call.Args
	switch call.Func.Name {
	case "=", "<>", "<", "<=", ">", ">=", "LIKE":
	case "IN", "BETWEEN", "IS NOT NULL":
		args = args[:1]
	default:
		return plan.OnNeither
	}
	s := plan.OnNeither
	for _, a := range args {
		for {
			cast, ok := a.(*expr.Cast)
			if !ok {
				break
			}
			a = cast.Arg
		}
		if _, ok := a.(*expr.Column); ok {
			s |= plan.Sides(a, width)
		}
	}
	return s
}

package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// split parts conjuncts into those that move below the filter's input and those that stay. One that may
// fail moves only if all before it do: they keep it from rows it must not meet.
func split(conds []expr.Expr, moves func(expr.Expr) bool) (move, stay []expr.Expr) {
	for _, c := range conds {
		if moves(c) && !expr.Volatile(c) && (len(stay) == 0 || !expr.Fallible(c)) {
			move = append(move, c)
		} else {
			stay = append(stay, c)
		}
	}
	return move, stay
}

// filtered puts a filter of the conjuncts over n, if there are any.
func filtered(n plan.Node, conds []expr.Expr) plan.Node {
	if len(conds) == 0 {
		return n
	}
	return plan.NewFilter(n, plan.And(conds))
}

// pure reports whether an expression can be evaluated once more, or at more rows, without any difference.
func pure(e expr.Expr) bool { return !expr.Fallible(e) && !expr.Volatile(e) }

// substitute replaces the columns of e by expressions.
func substitute(e expr.Expr, by []expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if c, ok := e.(*expr.Column); ok {
			return by[c.Index]
		}
		return e
	})
}

// fits reports whether e with its columns replaced by expressions stays below the depth that can be
// serialised.
func fits(e expr.Expr, by []expr.Expr) bool {
	most := 0
	for _, i := range expr.Columns(e) {
		most = max(most, plan.Depth(by[i]))
	}
	return most <= 1 || plan.Depth(e)+most <= plan.MaxDepth
}

// filterThroughProject moves conjuncts below a projection whose expressions they use can be evaluated
// again.
func filterThroughProject(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	p, ok := f.Input.(*plan.Project)
	if !ok {
		return n, false
	}
	move, stay := split(plan.Conjuncts(f.Condition), func(c expr.Expr) bool {
		for _, i := range expr.Columns(c) {
			if !pure(p.Exprs[i]) {
				return false
			}
		}
		return fits(c, p.Exprs)
	})
	if len(move) == 0 {
		return n, false
	}
	for i, c := range move {
		move[i] = substitute(c, p.Exprs)
	}
	return filtered(p.WithChildren([]plan.Node{filtered(p.Input, move)}), stay), true
}

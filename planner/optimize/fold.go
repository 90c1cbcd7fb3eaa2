package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// foldConstants replaces constant parts of expressions by literals. Where that fails the expression stays:
// it fails when a row needs it, and not before.
func foldConstants(n plan.Node, env *expr.Env) (plan.Node, bool) {
	switch n := n.(type) {
	case *plan.Filter:
		if c := expr.Fold(n.Condition, env); c != n.Condition {
			return plan.NewFilter(n.Input, c), true
		}
	case *plan.Project:
		if es, changed := foldAll(n.Exprs, env); changed {
			return plan.NewProject(n.Input, es, n.Schema().Names()), true
		}
	case *plan.Unnest:
		if arg := expr.Fold(n.Arg, env); arg != n.Arg {
			return n.With(n.Input, arg, n.Columns), true
		}
	case *plan.Join:
		lk, l := foldAll(n.LeftKeys, env)
		rk, r := foldAll(n.RightKeys, env)
		residual := n.Residual
		if residual != nil {
			residual = expr.Fold(residual, env)
			if isTrue(residual) {
				residual = nil
			}
		}
		if l || r || residual != n.Residual {
			return plan.NewJoin(n.Kind, n.Left, n.Right, lk, rk, residual), true
		}
	case *plan.Aggregate:
		keys, changed := foldAll(n.Keys, env)
		aggs := n.Aggs
		for i, c := range n.Aggs {
			args, ok := foldAll(c.Args, env)
			filter := c.Filter
			if filter != nil {
				filter = expr.Fold(filter, env)
			}
			if !ok && filter == c.Filter {
				continue
			}
			if !changed || &aggs[0] == &n.Aggs[0] {
				aggs = append([]*expr.AggCall(nil), aggs...)
			}
			d := *c
			d.Args, d.Filter = args, filter
			aggs[i], changed = &d, true
		}
		if changed {
			return plan.NewAggregate(n.Input, keys, aggs, n.Schema().Names()), true
		}
	}
	return n, false
}

func foldAll(es []expr.Expr, env *expr.Env) ([]expr.Expr, bool) {
	var out []expr.Expr
	for i, e := range es {
		f := expr.Fold(e, env)
		if f != e && out == nil {
			out = append([]expr.Expr(nil), es...)
		}
		if out != nil {
			out[i] = f
		}
	}
	if out == nil {
		return es, false
	}
	return out, true
}

// isTrue and neverTrue tell about a condition that is a constant.
func isTrue(e expr.Expr) bool {
	l, ok := e.(*expr.Literal)
	return ok && !l.Value.IsNull(0) && l.Value.Bool[0]
}

func neverTrue(e expr.Expr) bool {
	l, ok := e.(*expr.Literal)
	return ok && (l.Value.IsNull(0) || !l.Value.Bool[0])
}

// foldFilter removes a filter that lets everything through, and everything below one that lets nothing
// through, unless reading that could have failed.
func foldFilter(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	conds := plan.Conjuncts(f.Condition)
	for _, c := range conds {
		if neverTrue(c) && sound(f.Input) {
			return plan.NewValues(f.Schema().Columns, nil), true
		}
	}
	if isTrue(f.Condition) {
		return f.Input, true
	}
	return n, false
}

// sound reports whether nothing in a plan can fail but the reading of a table.
func sound(n plan.Node) bool {
	ok := plan.Sound(n)
	plan.Walk(n, func(n plan.Node) {
		if a, isAggregate := n.(*plan.Aggregate); isAggregate {
			ok = ok && len(a.Aggs) == 0 // a sum may overflow
		}
	})
	return ok
}

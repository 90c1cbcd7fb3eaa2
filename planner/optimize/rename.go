package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// rename gives references the names of the columns that they now refer to, for EXPLAIN and for errors:
// projections that did nothing but name are gone.
func rename(n plan.Node) plan.Node {
	n, _ = mapChildren(n, func(c plan.Node) (plan.Node, bool) { return rename(c), true })
	switch n := n.(type) {
	case *plan.Filter:
		return plan.NewFilter(n.Input, named(n.Condition, n.Input))
	case *plan.Project:
		return plan.NewProject(n.Input, allNamed(n.Exprs, n.Input), n.Schema().Names())
	case *plan.Unnest:
		return n.With(n.Input, named(n.Arg, n.Input), n.Columns)
	case *plan.Join:
		return plan.NewJoin(n.Kind, n.Left, n.Right, allNamed(n.LeftKeys, n.Left), allNamed(n.RightKeys, n.Right), named(n.Residual, n))
	case *plan.Sort:
		keys := append([]plan.SortKey(nil), n.Keys...)
		for i := range keys {
			keys[i].Expr = named(keys[i].Expr, n.Input)
		}
		return plan.NewSort(n.Input, keys, n.Count, n.Offset)
	case *plan.Aggregate:
		aggs := make([]*expr.AggCall, len(n.Aggs))
		for i, c := range n.Aggs {
			d := *c
			d.Args, d.Filter = allNamed(c.Args, n.Input), named(c.Filter, n.Input)
			aggs[i] = &d
		}
		return plan.NewAggregate(n.Input, allNamed(n.Keys, n.Input), aggs, n.Schema().Names())
	}
	return n
}

func allNamed(es []expr.Expr, over plan.Node) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = named(e, over)
	}
	return out
}

func named(e expr.Expr, over plan.Node) expr.Expr {
	if e == nil {
		return nil
	}
	cols := over.Schema().Columns
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		c, ok := e.(*expr.Column)
		if !ok || c.Name == cols[c.Index].Name {
			return e
		}
		d := *c
		d.Name = cols[c.Index].Name
		return &d
	})
}

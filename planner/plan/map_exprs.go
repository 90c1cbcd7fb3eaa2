package plan

import "github.com/sluice-sql/sluice/expr"

// MapExprs returns a plan in which f has replaced every expression but those pushed into scans; its results
// have the types of what they replace.
func MapExprs(n Node, f func(expr.Expr) expr.Expr) Node {
	if children := n.Children(); len(children) > 0 {
		fresh := make([]Node, len(children))
		for i, c := range children {
			fresh[i] = MapExprs(c, f)
		}
		n = n.WithChildren(fresh)
	}
	one := func(e expr.Expr) expr.Expr {
		if e == nil {
			return nil
		}
		return f(e)
	}
	all := func(es []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(es))
		for i, e := range es {
			out[i] = f(e)
		}
		return out
	}
	switch n := n.(type) {
	case *Filter:
		return NewFilter(n.Input, f(n.Condition))
	case *Project:
		return NewProject(n.Input, all(n.Exprs), n.Schema().Names())
	case *Unnest:
		return n.With(n.Input, f(n.Arg), n.Columns)
	case *Join:
		return NewJoin(n.Kind, n.Left, n.Right, all(n.LeftKeys), all(n.RightKeys), one(n.Residual))
	case *Sort:
		keys := append([]SortKey(nil), n.Keys...)
		for i := range keys {
			keys[i].Expr = f(keys[i].Expr)
		}
		return NewSort(n.Input, keys, n.Count, n.Offset)
	case *Aggregate:
		aggs := make([]*expr.AggCall, len(n.Aggs))
		for i, c := range n.Aggs {
			d := *c
			d.Args, d.Filter = all(c.Args), one(c.Filter)
			aggs[i] = &d
		}
		return NewAggregate(n.Input, all(n.Keys), aggs, n.Schema().Names())
	}
	return n
}

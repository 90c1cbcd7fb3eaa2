package plan

import "github.com/sluice-sql/sluice/expr"

// MapSpans returns a plan in which f has replaced the place in the text of every expression.
func MapSpans(n Node, f func(expr.Span) expr.Span) Node {
	children := n.Children()
	if len(children) > 0 {
		fresh := make([]Node, len(children))
		for i, c := range children {
			fresh[i] = MapSpans(c, f)
		}
		n = n.WithChildren(fresh)
	}
	all := func(es []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(es))
		for i, e := range es {
			out[i] = MapExprSpans(e, f)
		}
		return out
	}
	switch n := n.(type) {
	case *Filter:
		return NewFilter(n.Input, MapExprSpans(n.Condition, f))
	case *Project:
		return NewProject(n.Input, all(n.Exprs), n.Schema().Names())
	case *Join:
		return NewJoin(n.Kind, n.Left, n.Right, all(n.LeftKeys), all(n.RightKeys), MapExprSpans(n.Residual, f))
	case *Sort:
		keys := append([]SortKey(nil), n.Keys...)
		for i := range keys {
			keys[i].Expr = MapExprSpans(keys[i].Expr, f)
		}
		return NewSort(n.Input, keys, n.Count, n.Offset)
	case *Aggregate:
		aggs := make([]*expr.AggCall, len(n.Aggs))
		for i, c := range n.Aggs {
			d := *c
			d.Args, d.Filter, d.At = all(c.Args), MapExprSpans(c.Filter, f), f(c.At)
			aggs[i] = &d
		}
		return NewAggregate(n.Input, all(n.Keys), aggs, n.Schema().Names())
	case *SingleRow:
		return NewSingleRow(n.Input, f(n.At))
	}
	return n
}

// MapExprSpans returns an expression in which f has replaced every place; nil stays nil.
func MapExprSpans(e expr.Expr, f func(expr.Span) expr.Span) expr.Expr {
	if e == nil {
		return nil
	}
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		at := f(e.Span())
		if at == e.Span() {
			return e
		}
		switch e := e.(type) {
		case *expr.Column:
			c := *e
			c.At = at
			return &c
		case *expr.Literal:
			c := *e
			c.At = at
			return &c
		case *expr.Call:
			c := *e
			c.At = at
			return &c
		case *expr.Cast:
			c := *e
			c.At = at
			return &c
		}
		return e
	})
}

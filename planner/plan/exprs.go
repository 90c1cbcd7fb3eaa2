package plan

import "github.com/sluice-sql/sluice/expr"

// MapSpans returns a plan in which f has replaced the place in the text of every expression.
func MapSpans(n Node, f func(expr.Span) expr.Span) Node {
	return mapPlaces(MapExprs(n, func(e expr.Expr) expr.Expr { return MapExprSpans(e, f) }), f)
}

// mapPlaces replaces the places that nodes have besides those of their expressions.
func mapPlaces(n Node, f func(expr.Span) expr.Span) Node {
	if children := n.Children(); len(children) > 0 {
		fresh := make([]Node, len(children))
		for i, c := range children {
			fresh[i] = mapPlaces(c, f)
		}
		n = n.WithChildren(fresh)
	}
	switch n := n.(type) {
	case *Aggregate:
		aggs := make([]*expr.AggCall, len(n.Aggs))
		for i, c := range n.Aggs {
			d := *c
			d.At = f(c.At)
			aggs[i] = &d
		}
		return NewAggregate(n.Input, n.Keys, aggs, n.Schema().Names())
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

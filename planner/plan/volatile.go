package plan

import "github.com/sluice-sql/sluice/expr"

// Unrepeatable returns the volatile expression of a streaming plan that cannot do right by rows that are taken
// back, or nil: it has another value for the row that goes than it had for that row when it came. A filter would
// let only one of the two pass, and a grouping would take away what was never there. A projection may be volatile
// if neither uses its value: who finds rows by their key does not mind. Changes are those of [Changelog].
func Unrepeatable(root Node, changes map[Node]Changes) expr.Expr {
	var found expr.Expr
	// unstable gives, of each column that has another value when a row is taken back, the expression at fault.
	var unstable func(n Node) []expr.Expr
	unstable = func(n Node) []expr.Expr {
		out := make([]expr.Expr, Width(n))
		var in []expr.Expr
		for _, c := range n.Children() {
			in = unstable(c)
			for i := range min(len(in), len(out)) {
				if out[i] == nil {
					out[i] = in[i]
				}
			}
		}
		fault := func(e expr.Expr) (at expr.Expr) {
			if e == nil || changes[n.Children()[0]].Mode.InsertOnly() {
				return nil
			}
			expr.Walk(e, func(e expr.Expr) bool {
				switch e := e.(type) {
				case *expr.Column:
					at = in[e.Index]
				case *expr.Call:
					if e.Func.Volatile {
						at = e
					}
				}
				return at == nil
			})
			return at
		}
		decides := func(es ...expr.Expr) {
			for _, e := range es {
				if found == nil {
					found = fault(e)
				}
			}
		}
		switch n := n.(type) {
		case *Filter:
			decides(n.Condition)
		case *Project:
			clear(out)
			for i, e := range n.Exprs {
				out[i] = fault(e)
			}
		case *Aggregate:
			clear(out)
			decides(n.Keys...)
			for _, c := range n.Aggs {
				decides(c.Args...)
				decides(c.Filter)
			}
		}
		return out
	}
	unstable(root)
	return found
}

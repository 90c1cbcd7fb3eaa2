package plan

import (
	"slices"

	"github.com/sluice-sql/sluice/expr"
)

// Unrepeatable returns an expression of a streaming plan that cannot do right by rows that are taken back, or
// nil: it is volatile, or has the value of one that is, and has another value for the row that goes than it
// had for that row when it came. A filter would let only one of the two pass, and a grouping would take away
// what was never there. A projection may be volatile if neither is above it: who finds rows by their key does
// not mind. Changes are those of [Changelog].
func Unrepeatable(root Node, changes map[Node]Changes) expr.Expr {
	var found expr.Expr
	// unstable says which columns have another value when a row is taken back.
	var unstable func(n Node) []bool
	unstable = func(n Node) []bool {
		out := make([]bool, Width(n))
		var in []bool
		for _, c := range n.Children() {
			in = unstable(c)
			if len(in) == len(out) {
				for i := range in {
					out[i] = out[i] || in[i]
				}
			}
		}
		bad := func(e expr.Expr) bool {
			return e != nil && !changes[n.Children()[0]].Mode.InsertOnly() &&
				(expr.Volatile(e) || slices.ContainsFunc(expr.Columns(e), func(c int) bool { return in[c] }))
		}
		decides := func(es ...expr.Expr) {
			for _, e := range es {
				if found == nil && bad(e) {
					found = e
				}
			}
		}
		switch n := n.(type) {
		case *Filter:
			decides(n.Condition)
		case *Project:
			for i, e := range n.Exprs {
				out[i] = bad(e)
			}
		case *Aggregate:
			decides(n.Keys...)
			for _, c := range n.Aggs {
				decides(c.Args...)
				decides(c.Filter)
			}
			clear(out)
		}
		return out
	}
	unstable(root)
	return found
}

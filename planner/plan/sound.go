package plan

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
)

// Sound reports whether no expression of a plan can fail, whatever the rows are. Reading a table still
// can, and so can a sum that overflows.
func Sound(n Node) bool {
	ok := true
	infallible := func(es ...expr.Expr) {
		for _, e := range es {
			ok = ok && (e == nil || !expr.Fallible(e))
		}
	}
	Walk(n, func(n Node) {
		switch n := n.(type) {
		case *Filter:
			infallible(n.Condition)
		case *Project:
			infallible(n.Exprs...)
		case *Unnest:
			infallible(n.Arg)
		case *Join:
			infallible(n.LeftKeys...)
			infallible(n.RightKeys...)
			infallible(n.Residual)
		case *Aggregate:
			infallible(n.Keys...)
			for _, c := range n.Aggs {
				infallible(c.Args...)
				infallible(c.Filter)
			}
		case *Sort:
			for _, k := range n.Keys {
				infallible(k.Expr)
			}
		case *SingleRow:
			ok = ok && AtMostOne(n.Input)
		}
	})
	return ok
}

// AtMostOne reports whether a plan surely gives no more than one row.
func AtMostOne(n Node) bool {
	switch n := n.(type) {
	case *Values:
		return n.Rows() <= 1
	case *Aggregate:
		return len(n.Keys) == 0 || AtMostOne(n.Input)
	case *SingleRow:
		return true
	case *Limit:
		return n.Count == 0 || n.Count == 1 || AtMostOne(n.Input)
	case *Sort:
		return n.Count == 0 || n.Count == 1 || AtMostOne(n.Input)
	case *Filter:
		return AtMostOne(n.Input)
	case *Project:
		return AtMostOne(n.Input)
	case *Join:
		return n.Kind != job.Full && AtMostOne(n.Left) && AtMostOne(n.Right)
	}
	return false
}

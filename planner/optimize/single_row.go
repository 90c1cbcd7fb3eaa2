package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// singleRow removes the check for one row where there is always exactly one.
func singleRow(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	s, ok := n.(*plan.SingleRow)
	if !ok || !exactlyOne(s.Input) {
		return n, false
	}
	return s.Input, true
}

func exactlyOne(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Values:
		return n.Rows() == 1
	case *plan.Aggregate:
		return len(n.Keys) == 0
	case *plan.SingleRow:
		return true
	case *plan.Project:
		return exactlyOne(n.Input)
	case *plan.Sort:
		return n.Count < 0 && exactlyOne(n.Input)
	}
	return false
}

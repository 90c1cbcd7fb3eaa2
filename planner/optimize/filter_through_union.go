package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// filterThroughUnion filters each input of a union.
func filterThroughUnion(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, false
	}
	u, ok := f.Input.(*plan.Union)
	if !ok {
		return n, false
	}
	inputs := make([]plan.Node, len(u.Inputs))
	for i, in := range u.Inputs {
		inputs[i] = plan.NewFilter(in, f.Condition)
	}
	return plan.NewUnion(inputs), true
}

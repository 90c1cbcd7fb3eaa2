package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// distinctAggregate groups twice where all aggregates are DISTINCT over the same arguments, first to the
// distinct ones: both steps then run in parallel. Groups come in no order, so that calls whose result depends on
// the order of the rows stay as they are.
func distinctAggregate(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	a, ok := n.(*plan.Aggregate)
	if !ok || len(a.Aggs) == 0 {
		return n, false
	}
	first := a.Aggs[0]
	for _, c := range a.Aggs {
		if !c.Distinct || c.Func.Ordered || c.Filter != nil || len(c.Args) != len(first.Args) {
			return n, false
		}
		for i := range c.Args {
			if !expr.Equal(c.Args[i], first.Args[i]) || expr.Volatile(c.Args[i]) {
				return n, false
			}
		}
	}
	names := a.Schema().Names()[:len(a.Keys):len(a.Keys)]
	values := append(a.Keys[:len(a.Keys):len(a.Keys)], first.Args...)
	inner := append(append([]string(nil), names...), make([]string, len(first.Args))...)
	for i := range first.Args {
		inner[len(names)+i] = expr.String(first.Args[i])
	}
	distinct := plan.NewAggregate(a.Input, values, nil, inner)
	over := func(i int) expr.Expr { return plan.ColumnOf(distinct, i) }
	keys := make([]expr.Expr, len(a.Keys))
	for i := range keys {
		keys[i] = over(i)
	}
	aggs := make([]*expr.AggCall, len(a.Aggs))
	for i, c := range a.Aggs {
		d := *c
		d.Distinct = false
		d.Args = make([]expr.Expr, len(c.Args))
		for k := range d.Args {
			d.Args[k] = over(len(a.Keys) + k)
		}
		aggs[i] = &d
	}
	return plan.NewAggregate(distinct, keys, aggs, a.Schema().Names()), true
}

package lower

import (
	"fmt"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/types"
)

// aggregate lowers a grouping. Of a parallel input each subtask makes partial states, which are merged
// behind a hash of the keys, or in one place where there are none. Whether a value is distinct only one
// place can tell, so that with DISTINCT the rows themselves go there. Calls whose result depends on the
// order of the rows are made in one place as well.
func (l *lowering) aggregate(n *plan.Aggregate) (int, error) {
	in, err := l.node(n.Input)
	if err != nil {
		return 0, err
	}
	p := l.parallelism(in)
	out := n.Schema().Columns
	aggs := make([]job.Agg, len(n.Aggs))
	distinct, ordered := false, false
	for i, c := range n.Aggs {
		aggs[i] = job.Agg{AggCall: c}
		distinct, ordered = distinct || c.Distinct, ordered || c.Func.Ordered
	}
	if l.changes != nil {
		spec := &job.Aggregate{Phase: job.Changelog, Keys: job.Exprs(n.Keys), Aggs: aggs,
			Retracting: !l.changes[n.Input].Mode.InsertOnly(), EmitBefore: l.changes[n].Mode&plan.UpdateBefore != 0}
		return l.add(spec, out, 1, input{from: in, kind: job.Forward}), nil
	}
	complete := &job.Aggregate{Phase: job.Complete, Keys: job.Exprs(n.Keys), Aggs: aggs}
	switch {
	case p == 1, ordered: // rows are gathered in their order
		return l.add(complete, out, 1, input{from: in, kind: job.Forward}), nil
	case distinct && len(n.Keys) == 0:
		return l.add(complete, out, 1, input{from: in, kind: job.Forward}), nil
	case distinct:
		return l.hashedRows(n, in, aggs)
	}
	partial := append([]types.Column(nil), out[:len(n.Keys)]...)
	for i, c := range n.Aggs {
		for k, t := range c.NewAccumulator(false).StateTypes() {
			partial = append(partial, types.Column{Name: fmt.Sprintf("$state%d_%d", i, k), Type: t})
		}
	}
	first := l.add(&job.Aggregate{Phase: job.Partial, Keys: complete.Keys, Aggs: aggs}, partial, p, input{from: in, kind: job.Forward})
	final := &job.Aggregate{Phase: job.Final, Keys: job.Exprs(leading(out, len(n.Keys))), Aggs: aggs}
	if len(n.Keys) == 0 {
		return l.add(final, out, 1, input{from: first, kind: job.Forward}), nil
	}
	return l.add(final, out, p, input{from: first, kind: job.Hash, keys: positions(len(n.Keys))}), nil
}

// hashedRows groups completely behind a hash of the keys, which are computed before it as columns.
func (l *lowering) hashedRows(n *plan.Aggregate, in int, aggs []job.Agg) (int, error) {
	p := l.parallelism(in)
	exprs, names := plan.Columns(n.Input, plan.Width(n.Input))
	cols := append([]types.Column(nil), n.Input.Schema().Columns...)
	var keys []int
	var over []expr.Expr
	for _, k := range n.Keys {
		at := len(exprs)
		if c, ok := k.(*expr.Column); ok {
			at = c.Index
		} else {
			exprs, names = append(exprs, k), append(names, expr.String(k))
			cols = append(cols, types.Column{Name: names[at], Type: k.Type()})
		}
		keys = append(keys, at)
		over = append(over, &expr.Column{Index: at, Name: names[at], T: k.Type(), At: k.Span()})
	}
	if len(exprs) > plan.Width(n.Input) {
		in = l.add(&job.Project{Exprs: job.Exprs(exprs)}, cols, p, input{from: in, kind: job.Forward})
	}
	spec := &job.Aggregate{Phase: job.Complete, Keys: job.Exprs(over), Aggs: aggs}
	return l.add(spec, n.Schema().Columns, p, input{from: in, kind: job.Hash, keys: keys}), nil
}

func leading(cols []types.Column, n int) []expr.Expr {
	keys := make([]expr.Expr, n)
	for i := range keys {
		keys[i] = &expr.Column{Index: i, Name: cols[i].Name, T: cols[i].Type}
	}
	return keys
}

func positions(n int) []int {
	ps := make([]int, n)
	for i := range ps {
		ps[i] = i
	}
	return ps
}

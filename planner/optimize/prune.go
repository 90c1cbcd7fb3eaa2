package optimize

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/types"
)

// Prune drops the columns that nothing above needs, and does nothing else.
func Prune(root plan.Node) plan.Node { return prune(root) }

// prune drops the columns that nothing above needs, down to the scans.
func prune(root plan.Node) plan.Node {
	need := make(columns, plan.Width(root))
	for i := range need {
		need[i] = true
	}
	return exactly(root, need)
}

// columns says of each column of a node whether it is needed.
type columns []bool

func (c columns) use(es ...expr.Expr) {
	for _, e := range es {
		if e == nil {
			continue
		}
		for _, i := range expr.Columns(e) {
			c[i] = true
		}
	}
}

// places are where the columns of a node are in what replaces it; -1 for those that are gone.
type places []int

func (p places) of(e expr.Expr) expr.Expr {
	if e == nil {
		return nil
	}
	return expr.Remap(e, func(i int) int { return p[i] })
}

func (p places) all(es []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = p.of(e)
	}
	return out
}

// keep returns the places of columns when those not needed are taken out.
func keep(need columns) (places, int) {
	p, n := make(places, len(need)), 0
	for i, needed := range need {
		p[i] = -1
		if needed {
			p[i] = n
			n++
		}
	}
	return p, n
}

// exactly returns a node with just the columns needed, in order.
func exactly(n plan.Node, need columns) plan.Node {
	m, at := needed(n, need)
	var exprs []expr.Expr
	var names []string
	same := true
	for i, c := range n.Schema().Columns {
		if !need[i] {
			continue
		}
		same = same && at[i] == len(exprs)
		exprs = append(exprs, plan.ColumnOf(m, at[i]))
		names = append(names, c.Name)
	}
	if same && len(exprs) == plan.Width(m) {
		return m
	}
	return plan.NewProject(m, exprs, names)
}

// needed returns a node with at least the columns needed, and where they are.
func needed(n plan.Node, need columns) (plan.Node, places) {
	switch n := n.(type) {
	case *plan.Scan:
		at, count := keep(need)
		cols := make([]int, count)
		for i, c := range n.Columns {
			if need[i] {
				cols[at[i]] = c
			}
		}
		return plan.NewScan(n.Table, cols, n.Filters, n.Limit), at
	case *plan.Values:
		return pruneValues(n, need)
	case *plan.Filter:
		below := append(columns(nil), need...)
		below.use(n.Condition)
		in, at := needed(n.Input, below)
		return plan.NewFilter(in, at.of(n.Condition)), at
	case *plan.Project:
		below := make(columns, plan.Width(n.Input))
		at, count := keep(need)
		exprs, names := make([]expr.Expr, 0, count), make([]string, 0, count)
		for i, e := range n.Exprs {
			if need[i] {
				below.use(e)
				exprs, names = append(exprs, e), append(names, n.Schema().Columns[i].Name)
			}
		}
		in, from := needed(n.Input, below)
		return plan.NewProject(in, from.all(exprs), names), at
	case *plan.Limit:
		in, at := needed(n.Input, need)
		return n.WithChildren([]plan.Node{in}), at
	case *plan.Sort:
		below := append(columns(nil), need...)
		for _, k := range n.Keys {
			below.use(k.Expr)
		}
		at, _ := keep(below)
		keys := append([]plan.SortKey(nil), n.Keys...)
		for i := range keys {
			keys[i].Expr = at.of(keys[i].Expr)
		}
		return plan.NewSort(exactly(n.Input, below), keys, n.Count, n.Offset), at
	case *plan.SingleRow:
		at, _ := keep(need)
		return plan.NewSingleRow(exactly(n.Input, need), n.At), at
	case *plan.Union:
		at, _ := keep(need)
		inputs := make([]plan.Node, len(n.Inputs))
		for i, in := range n.Inputs {
			inputs[i] = exactly(in, need)
		}
		return plan.NewUnion(inputs), at
	case *plan.Unnest:
		return pruneUnnest(n, need)
	case *plan.Join:
		return pruneJoin(n, need)
	case *plan.Aggregate:
		return pruneAggregate(n, need)
	}
	return n, identity(len(need))
}

// pruneUnnest passes on no more columns than are needed, above all not the collection for each of its
// elements. The columns of the elements stay.
func pruneUnnest(n *plan.Unnest, need columns) (plan.Node, places) {
	below := make(columns, plan.Width(n.Input))
	below.use(n.Arg)
	at := make(places, len(need))
	var wanted []int
	for i, c := range n.Columns {
		at[i] = -1
		if need[i] {
			below[c] = true
			at[i] = len(wanted)
			wanted = append(wanted, c)
		}
	}
	for i := len(n.Columns); i < len(need); i++ {
		at[i] = len(wanted) + i - len(n.Columns)
	}
	in, from := needed(n.Input, below)
	columns := make([]int, len(wanted))
	for i, c := range wanted {
		columns[i] = from[c]
	}
	return n.With(in, from.of(n.Arg), columns), at
}

func identity(n int) places {
	p := make(places, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func pruneValues(n *plan.Values, need columns) (plan.Node, places) {
	at, count := keep(need)
	if count == len(need) {
		return n, at
	}
	cols := make([]types.Column, 0, count)
	for i, c := range n.Schema().Columns {
		if need[i] {
			cols = append(cols, c)
		}
	}
	batches := make([]*column.Batch, len(n.Batches))
	for k, b := range n.Batches {
		batches[k] = &column.Batch{N: b.N}
		for i, v := range b.Cols {
			if need[i] {
				batches[k].Cols = append(batches[k].Cols, v)
			}
		}
	}
	return plan.NewValues(cols, batches), at
}

// pruneJoin gives each side of a join the columns that the join and what is above it need, and no others:
// the build side keeps its rows.
func pruneJoin(n *plan.Join, need columns) (plan.Node, places) {
	all := append(columns(nil), need...)
	all.use(n.Residual)
	width := plan.Width(n.Left)
	left, right := all[:width:width], all[width:]
	left.use(n.LeftKeys...)
	right.use(n.RightKeys...)
	at, _ := keep(all)
	la, _ := keep(left)
	ra, _ := keep(right)
	j := plan.NewJoin(n.Kind, exactly(n.Left, left), exactly(n.Right, right), la.all(n.LeftKeys), ra.all(n.RightKeys), at.of(n.Residual))
	return j, at
}

// pruneAggregate drops results that nobody needs. The keys make the groups and stay.
func pruneAggregate(n *plan.Aggregate, need columns) (plan.Node, places) {
	all := append(columns(nil), need...)
	for i := range n.Keys {
		all[i] = true
	}
	if len(n.Keys) == 0 && len(n.Aggs) > 0 {
		some := false
		for _, b := range all {
			some = some || b
		}
		all[0] = all[0] || !some // a grouping of nothing by nothing is no aggregation
	}
	at, _ := keep(all)
	below := make(columns, plan.Width(n.Input))
	below.use(n.Keys...)
	var aggs []*expr.AggCall
	names := append([]string(nil), n.Schema().Names()[:len(n.Keys)]...)
	for i, c := range n.Aggs {
		if all[len(n.Keys)+i] {
			below.use(c.Args...)
			below.use(c.Filter)
			aggs, names = append(aggs, c), append(names, n.Schema().Columns[len(n.Keys)+i].Name)
		}
	}
	in, from := needed(n.Input, below)
	for i, c := range aggs {
		d := *c
		d.Args, d.Filter = from.all(c.Args), from.of(c.Filter)
		aggs[i] = &d
	}
	return plan.NewAggregate(in, from.all(n.Keys), aggs, names), at
}

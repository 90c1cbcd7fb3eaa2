package optimize

import (
	"math"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// mergeLimits makes one limit of two.
func mergeLimits(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	upper, ok := n.(*plan.Limit)
	if !ok {
		return n, false
	}
	lower, ok := upper.Input.(*plan.Limit)
	if !ok {
		return n, false
	}
	count := upper.Count
	if lower.Count >= 0 {
		left := max(lower.Count-upper.Offset, 0)
		if count < 0 || left < count {
			count = left
		}
	}
	return plan.NewLimit(lower.Input, count, add(lower.Offset, upper.Offset)), true
}

// add adds two counts of rows; beyond 64 bits there are no rows.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// emptyLimit reads nothing for LIMIT 0.
func emptyLimit(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	l, ok := n.(*plan.Limit)
	if !ok || l.Count != 0 || !sound(l.Input) {
		return n, false
	}
	return plan.NewValues(l.Schema().Columns, nil), true
}

// limitThroughProject projects only the rows kept.
func limitThroughProject(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	l, ok := n.(*plan.Limit)
	if !ok {
		return n, false
	}
	p, ok := l.Input.(*plan.Project)
	if !ok {
		return n, false
	}
	return p.WithChildren([]plan.Node{plan.NewLimit(p.Input, l.Count, l.Offset)}), true
}

// limitThroughUnion takes no more rows of each input than are kept of all.
func limitThroughUnion(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	l, ok := n.(*plan.Limit)
	if !ok || l.Count < 0 {
		return n, false
	}
	u, ok := l.Input.(*plan.Union)
	if !ok {
		return n, false
	}
	need := add(l.Count, l.Offset)
	inputs, changed := append([]plan.Node(nil), u.Inputs...), false
	for i, in := range inputs {
		if most := mostRows(in); most < 0 || most > need {
			inputs[i], changed = plan.NewLimit(in, need, 0), true
		}
	}
	if !changed {
		return n, false
	}
	return l.WithChildren([]plan.Node{plan.NewUnion(inputs)}), true
}

// topN keeps only the first rows while sorting.
func topN(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	l, ok := n.(*plan.Limit)
	if !ok || l.Count < 0 {
		return n, false
	}
	s, ok := l.Input.(*plan.Sort)
	if !ok || s.Count >= 0 {
		return n, false
	}
	return plan.NewSort(s.Input, s.Keys, l.Count, l.Offset), true
}

// limitToScan tells a table how many rows are wanted. With a filter here, or one handed to the table,
// that is not known.
func limitToScan(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	l, ok := n.(*plan.Limit)
	if !ok || l.Count < 0 {
		return n, false
	}
	s, ok := l.Input.(*plan.Scan)
	need := add(l.Count, l.Offset)
	if !ok || len(s.Filters) > 0 || s.Limit >= 0 && s.Limit <= need {
		return n, false
	}
	return l.WithChildren([]plan.Node{plan.NewScan(s.Table, s.Columns, nil, need)}), true
}

// mostRows is the most rows that a node can give, or -1 where that is not known.
func mostRows(n plan.Node) int64 {
	switch n := n.(type) {
	case *plan.Values:
		return n.Rows()
	case *plan.SingleRow:
		return 1
	case *plan.Scan:
		return n.Limit
	case *plan.Aggregate:
		if len(n.Keys) == 0 {
			return 1
		}
		return mostRows(n.Input)
	case *plan.Sort:
		if in := mostRows(n.Input); n.Count < 0 || in >= 0 && in < n.Count {
			return in
		}
		return n.Count
	case *plan.Limit:
		if in := mostRows(n.Input); n.Count < 0 || in >= 0 && in < n.Count {
			return in
		}
		return n.Count
	case *plan.Filter, *plan.Project:
		return mostRows(n.Children()[0])
	case *plan.Union:
		total := int64(0)
		for _, in := range n.Inputs {
			rows := mostRows(in)
			if rows < 0 {
				return -1
			}
			total = add(total, rows)
		}
		return total
	}
	return -1
}

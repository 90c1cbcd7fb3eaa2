package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// compareQueries binds EXCEPT and INTERSECT. The rows of both queries are grouped by all their columns, and
// counted for each query; the counts say whether, and with ALL how often, a row is in the result. NULL is
// equal to NULL here, as in every set operation.
func (b *Binder) compareQueries(q *sqlparse.SetOp, parent *scope) (*Relation, error) {
	name := "EXCEPT"
	if q.Kind == sqlparse.Intersect {
		name = "INTERSECT"
	}
	left, err := b.query(q.Left, parent)
	if err != nil {
		return nil, err
	}
	right, err := b.query(q.Right, parent)
	if err != nil {
		return nil, err
	}
	if len(right.Columns) != len(left.Columns) {
		return nil, errAt(q.Right.Span(), "Column count mismatch in %s: %s here, %d in the first query", name, count(len(right.Columns), "column"), len(left.Columns))
	}
	b.noStream(q.Right.Span(), name)
	out, err := union([]setInput{{left, ""}, {right, name}})
	if err != nil {
		return nil, err
	}
	at := span(q.Right.Span())
	width := len(out.Columns)
	sides := append([]plan.Node(nil), out.Node.Children()...)
	for i, n := range sides {
		exprs, names := plan.Columns(n, width)
		isLeft := expr.NewLiteral(types.Of(types.Boolean), i == 0, at)
		isRight := expr.NewLiteral(types.Of(types.Boolean), i == 1, at)
		sides[i] = plan.NewProject(n, append(exprs, isLeft, isRight), append(names, "left", "right"))
	}
	both := plan.NewUnion(sides)
	keys, names := plan.Columns(both, width)
	var counts []*expr.AggCall
	for i := range sides {
		c, err := expr.NewAggregate("COUNT", nil, false, plan.ColumnOf(both, width+i), at)
		if err != nil {
			return nil, positioned(err)
		}
		counts = append(counts, c)
	}
	counted := plan.NewAggregate(both, keys, counts, append(names, "left", "right"))
	if out.Node, err = chosen(counted, q, width); err != nil {
		return nil, positioned(err)
	}
	return out, nil
}

// chosen returns the rows that stand in the result, of counted ones.
func chosen(counted plan.Node, q *sqlparse.SetOp, width int) (plan.Node, error) {
	at := span(q.Right.Span())
	l, r := plan.ColumnOf(counted, width), plan.ColumnOf(counted, width+1)
	zero := expr.NewLiteral(types.Of(types.BigInt), 0, at)
	columns, names := plan.Columns(counted, width)
	call := func(name string, args ...expr.Expr) (expr.Expr, error) { return expr.NewCall(name, args, at) }
	if q.All {
		times, err := call("-", l, r)
		if q.Kind == sqlparse.Intersect {
			times, err = call("LEAST", l, r)
		}
		if err != nil {
			return nil, err
		}
		kept := make([]int, width)
		for i := range kept {
			kept[i] = i
		}
		return plan.NewUnnest(counted, times, kept, nil, false, false), nil
	}
	inLeft, err := call(">", l, zero)
	if err != nil {
		return nil, err
	}
	sign := "="
	if q.Kind == sqlparse.Intersect {
		sign = ">"
	}
	inRight, err := call(sign, r, zero)
	if err != nil {
		return nil, err
	}
	return plan.NewProject(plan.NewFilter(counted, plan.And([]expr.Expr{inLeft, inRight})), columns, names), nil
}

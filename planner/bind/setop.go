package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// setOp binds EXCEPT and INTERSECT, or a chain of UNION and UNION ALL. It leans to the left and may be long, so that it is walked
// by a loop. A UNION makes all before it distinct, so that only the last one needs to: what stands up to it is
// one node, and so is the run of UNION ALL behind it.
func (b *Binder) setOp(q *sqlparse.SetOp, parent *scope) (*Relation, error) {
	if q.Kind != sqlparse.Union {
		return b.compareQueries(q, parent)
	}
	var spine []*sqlparse.SetOp
	var first sqlparse.Query = q
	for {
		op, ok := first.(*sqlparse.SetOp)
		if !ok {
			break
		}
		if op.Kind != sqlparse.Union {
			break
		}
		spine = append(spine, op)
		first = op.Left
	}
	r, err := b.query(first, parent)
	if err != nil {
		return nil, err
	}
	inputs := []setInput{{r, ""}}
	distinct := 0 // the last input before which a UNION stands
	for i := len(spine) - 1; i >= 0; i-- {
		right, err := b.query(spine[i].Right, parent)
		if err != nil {
			return nil, err
		}
		name := "UNION ALL"
		if !spine[i].All {
			name, distinct = "UNION", len(inputs)
		}
		if len(right.Columns) != len(r.Columns) {
			return nil, errAt(spine[i].Right.Span(), "Column count mismatch in %s: %s here, %d in the first query", name, count(len(right.Columns), "column"), len(r.Columns))
		}
		inputs = append(inputs, setInput{right, name})
	}
	if distinct > 0 {
		if r, err = union(inputs[:distinct+1]); err != nil {
			return nil, err
		}
		r.Node = plan.NewDistinct(r.Node)
		inputs = append([]setInput{{r, ""}}, inputs[distinct+1:]...)
	}
	if len(inputs) == 1 {
		return r, nil
	}
	return union(inputs)
}

// setInput is one query of a chain and the operator before it.
type setInput struct {
	*Relation
	operator string
}

// union brings the inputs to common types and concatenates them.
func union(inputs []setInput) (*Relation, error) {
	first := inputs[0]
	out := &Relation{Columns: append([]Column(nil), first.Columns...)}
	common := make([]types.Type, len(first.Columns))
	for i := range common {
		ts := make([]types.Type, len(inputs))
		for k, in := range inputs {
			ts[k] = in.column(i).Type()
		}
		common[i] = ts[0]
		for k := 1; k < len(ts); k++ {
			t, ok := types.CommonType(common[i], ts[k])
			if !ok {
				return nil, withHint(errAt(inputs[k].Columns[i].At, "Type mismatch in column %d of %s", i+1, inputs[k].operator),
					"it is %s here and %s before; CAST one of them", ts[k].AsNullable(), common[i].AsNullable())
			}
			common[i] = t
		}
		out.Columns[i].cells = nil
		for _, in := range inputs {
			c := in.Columns[i]
			if c.cells == nil {
				c.cells = []cell{{c.At, in.column(i).Type()}}
			}
			out.Columns[i].cells = append(out.Columns[i].cells, c.cells...)
		}
		out.Columns[i].Null = common[i].Kind == types.Null
	}
	nodes := make([]plan.Node, len(inputs))
	for k, in := range inputs {
		node, err := in.cast(common)
		if err != nil {
			return nil, err
		}
		nodes[k] = node
	}
	out.Node = plan.NewUnion(nodes)
	return out, nil
}

// cast returns the relation's node with its columns cast to types that hold them.
func (r *Relation) cast(to []types.Type) (plan.Node, error) {
	exprs, names := make([]expr.Expr, len(to)), make([]string, len(to))
	changed := false
	for i, t := range to {
		x := r.column(i)
		names[i] = r.Columns[i].Name
		if t.Kind == types.Null {
			exprs[i] = plan.ColumnOf(r.Node, i)
			continue
		}
		y, err := coerce(x, t)
		if err != nil {
			if y, err = expr.NewCast(x, t.AsNullable(), false, x.Span()); err != nil {
				return nil, positioned(err)
			}
		}
		exprs[i] = y
		changed = changed || y != x
	}
	if !changed {
		return r.Node, nil
	}
	return plan.NewProject(r.Node, exprs, names), nil
}

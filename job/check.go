package job

import (
	"fmt"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// checkExprs checks that every expression of a vertex is there and refers to columns that its input has.
func (g *Graph) checkExprs(v *Vertex) error {
	var widths []int
	for _, e := range g.Inputs(v.ID) {
		widths = append(widths, len(g.Vertices[e.From].Out))
	}
	width := func(input int) int {
		if input < len(widths) {
			return widths[input]
		}
		return 0 // the missing input is for whoever runs the graph to report
	}
	check := func(width int, es ...Expr) error {
		for _, e := range es {
			if e.Expr == nil {
				return fmt.Errorf("vertex %d (%s) lacks an expression", v.ID, v.Spec.Op())
			}
			for _, c := range expr.Columns(e.Expr) {
				if c < 0 || c >= width {
					return fmt.Errorf("vertex %d (%s) refers to column %d of %d", v.ID, v.Spec.Op(), c, width)
				}
			}
		}
		return nil
	}
	switch s := v.Spec.(type) {
	case *Filter:
		return check(width(0), s.Predicate)
	case *Project:
		return check(width(0), s.Exprs...)
	case *Unnest:
		if err := g.checkUnnest(v, s, width(0)); err != nil {
			return err
		}
		return check(width(0), s.Arg)
	case *Sort:
		for _, k := range s.Keys {
			if err := check(width(0), k.Expr); err != nil {
				return err
			}
		}
	case *Join:
		if err := check(width(0), s.LeftKeys...); err != nil {
			return err
		}
		if err := check(width(1), s.RightKeys...); err != nil {
			return err
		}
		if len(s.LeftKeys) != len(s.RightKeys) {
			return fmt.Errorf("vertex %d (%s) has %d left and %d right keys", v.ID, v.Spec.Op(), len(s.LeftKeys), len(s.RightKeys))
		}
		for i, l := range s.LeftKeys {
			if l, r := l.Type(), s.RightKeys[i].Type(); !sameValues(l, r) {
				return fmt.Errorf("vertex %d (%s) has keys of the types %s and %s", v.ID, v.Spec.Op(), l, r)
			}
		}
		if s.Residual.Expr != nil {
			return check(width(0)+width(1), s.Residual)
		}
	case *Aggregate:
		if err := check(width(0), s.Keys...); err != nil {
			return err
		}
		for _, a := range s.Aggs {
			if a.AggCall == nil {
				return fmt.Errorf("vertex %d (%s) lacks an aggregate", v.ID, v.Spec.Op())
			}
			if s.Phase == Final {
				continue // its arguments are those of the partial phase
			}
			es := Exprs(a.Args)
			if a.Filter != nil {
				es = append(es, Expr{a.Filter})
			}
			if err := check(width(0), es...); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameValues reports whether equal values of two types are stored alike, so that they can be compared as they
// are: the same kind, scale and unit.
func sameValues(a, b types.Type) bool {
	switch {
	case a.IsString():
		return b.IsString()
	case a.IsBinary():
		return b.IsBinary()
	}
	return a.Kind == b.Kind && a.Wide() == b.Wide() && a.Nanos() == b.Nanos() && (a.Kind != types.Decimal || a.Scale == b.Scale)
}

package plan

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Equality reports whether a condition over the columns of a join is an equality between the two sides
// that can be a key, and returns the key of each side. width is the number of the left's columns.
func Equality(e expr.Expr, width int) (left, right expr.Expr, ok bool) {
	c, isCall := e.(*expr.Call)
	if !isCall || c.Func.Name != "=" || expr.Volatile(e) || !sameForm(c.Args[0].Type(), c.Args[1].Type()) {
		return nil, nil, false
	}
	a, b := Sides(c.Args[0], width), Sides(c.Args[1], width)
	shift := func(e expr.Expr) expr.Expr { return expr.Remap(e, func(i int) int { return i - width }) }
	switch {
	case a == OnLeft && b == OnRight:
		return c.Args[0], shift(c.Args[1]), true
	case a == OnRight && b == OnLeft:
		return c.Args[1], shift(c.Args[0]), true
	}
	return nil, nil, false
}

// sameForm reports whether values of two comparable types are equal exactly when their stored forms are.
func sameForm(a, b types.Type) bool {
	return column.PhysicalOf(a) == column.PhysicalOf(b) && column.PhysicalOf(a) != column.PhysNone && a.Scale == b.Scale && a.Nanos() == b.Nanos()
}

// Side says of which inputs of a join an expression reads columns.
type Side uint8

// The sides.
const (
	OnNeither Side = 0
	OnLeft    Side = 1
	OnRight   Side = 2
	OnBoth    Side = 3
)

// Sides returns of which inputs e reads columns; width is the number of the left's columns.
func Sides(e expr.Expr, width int) Side {
	s := OnNeither
	for _, i := range expr.Columns(e) {
		if i < width {
			s |= OnLeft
		} else {
			s |= OnRight
		}
	}
	return s
}

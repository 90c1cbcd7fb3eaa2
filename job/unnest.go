package job

import (
	"fmt"

	"github.com/sluice-sql/sluice/expr"
)

// Unnest gives a row for each element of the collection that Arg is: the input's Columns, then the columns of
// the element, then, with Ordinality, its number from 1. Outer keeps rows without an element. Where Arg is a
// BIGINT it gives each row so many times.
type Unnest struct {
	Arg        Expr  `json:"arg"`
	Columns    []int `json:"columns"`
	Outer      bool  `json:"outer,omitempty"`
	Ordinality bool  `json:"ordinality,omitempty"`
}

// Op returns "unnest".
func (*Unnest) Op() string { return "unnest" }

// Describe returns the argument.
func (u *Unnest) Describe() string {
	d := "Unnest " + expr.String(u.Arg.Expr)
	if u.Arg.Expr != nil && !u.Arg.Type().IsCollection() {
		d = "Repeat " + expr.String(u.Arg.Expr)
	}
	if u.Outer {
		d += " outer"
	}
	if u.Ordinality {
		d += " ordinality"
	}
	return d
}

// checkUnnest checks the columns that are passed on.
func (g *Graph) checkUnnest(v *Vertex, u *Unnest, width int) error {
	for _, c := range u.Columns {
		if c < 0 || c >= width {
			return fmt.Errorf("vertex %d (%s) passes on column %d of %d", v.ID, u.Op(), c, width)
		}
	}
	return nil
}

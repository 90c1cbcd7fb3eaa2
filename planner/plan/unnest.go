package plan

import (
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Unnest gives a row for each element of the collection that Arg is: the input's Columns, then those of the
// element. Where Arg is a BIGINT it gives each row so many times, and no more columns.
type Unnest struct {
	Input   Node
	Arg     expr.Expr
	Columns []int // of the input
	// Outer keeps the rows that have no element, with NULLs.
	Outer bool
	// Ordinality adds the number of the element, from 1.
	Ordinality bool
	names      []string // of the columns of an element
	schema     types.Schema
}

// NewUnnest returns the elements of arg beside columns of in; names are those of the columns of an element,
// and of its number.
func NewUnnest(in Node, arg expr.Expr, columns []int, names []string, outer, ordinality bool) *Unnest {
	u := &Unnest{Input: in, Arg: arg, Columns: columns, Outer: outer, Ordinality: ordinality, names: names}
	for _, c := range columns {
		u.schema.Columns = append(u.schema.Columns, in.Schema().Columns[c])
	}
	for i, t := range UnnestedTypes(arg.Type(), ordinality) {
		u.schema.Columns = append(u.schema.Columns, types.Column{Name: names[i], Type: t.WithNullable(t.Nullable() || outer)})
	}
	return u
}

// UnnestedTypes returns the types of the columns that an element is, and of its number.
func UnnestedTypes(arg types.Type, ordinality bool) (ts []types.Type) {
	if arg.IsCollection() {
		ts = arg.Unnested()
	}
	if ordinality {
		ts = append(ts, types.Of(types.Int).AsNotNull())
	}
	return ts
}

// With returns the node with other parts; the columns of the elements are the same.
func (u *Unnest) With(in Node, arg expr.Expr, columns []int) *Unnest {
	return NewUnnest(in, arg, columns, u.names, u.Outer, u.Ordinality)
}

// Schema returns the columns of the input, then those of the elements.
func (u *Unnest) Schema() types.Schema { return u.schema }

// Children returns the input.
func (u *Unnest) Children() []Node { return []Node{u.Input} }

// WithChildren returns the elements over another input.
func (u *Unnest) WithChildren(c []Node) Node { return u.With(c[0], u.Arg, u.Columns) }

// Describe returns what is unnested, and the columns.
func (u *Unnest) Describe() string {
	if !u.Arg.Type().IsCollection() {
		return "Repeat(times=[" + expr.String(u.Arg) + "], select=[" + strings.Join(u.schema.Names(), ", ") + "])"
	}
	join := "INNER"
	if u.Outer {
		join = "LEFT"
	}
	d := "Unnest(" + expr.String(u.Arg) + ", joinType=[" + join + "]"
	if u.Ordinality {
		d += ", ordinality=[true]"
	}
	return d + ", select=[" + strings.Join(u.schema.Names(), ", ") + "])"
}

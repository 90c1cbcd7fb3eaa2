package plan

import "github.com/sluice-sql/sluice/types"

// Union concatenates its inputs in order, as UNION ALL; their columns have the same types, but for
// nullability.
type Union struct {
	Inputs []Node
	schema types.Schema
}

// NewUnion returns the concatenation of inputs of equal types. A column is nullable when one of the
// inputs' is; the names are the first's.
func NewUnion(inputs []Node) *Union {
	u := &Union{Inputs: inputs}
	u.schema.Columns = append(u.schema.Columns, inputs[0].Schema().Columns...)
	for _, in := range inputs[1:] {
		for i, c := range in.Schema().Columns {
			if c.Type.Nullable() {
				u.schema.Columns[i].Type = u.schema.Columns[i].Type.AsNullable()
			}
		}
	}
	return u
}

// Schema returns the columns.
func (u *Union) Schema() types.Schema { return u.schema }

// Children returns the inputs.
func (u *Union) Children() []Node { return u.Inputs }

// WithChildren returns the union of other inputs.
func (u *Union) WithChildren(c []Node) Node { return NewUnion(c) }

// Describe returns the name.
func (u *Union) Describe() string { return "Union(all=[true])" }

package plan

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// SingleRow makes exactly one row of its input, as a scalar subquery does: NULLs for no row, an error at
// At for more than one.
type SingleRow struct {
	Input  Node
	At     expr.Span
	schema types.Schema
}

// NewSingleRow returns the one row of in.
func NewSingleRow(in Node, at expr.Span) *SingleRow {
	s := &SingleRow{Input: in, At: at}
	for _, c := range in.Schema().Columns {
		s.schema.Columns = append(s.schema.Columns, types.Column{Name: c.Name, Type: c.Type.AsNullable()})
	}
	return s
}

// Schema returns the input's columns, all nullable.
func (s *SingleRow) Schema() types.Schema { return s.schema }

// Children returns the input.
func (s *SingleRow) Children() []Node { return []Node{s.Input} }

// WithChildren returns the one row of another input.
func (s *SingleRow) WithChildren(c []Node) Node { return NewSingleRow(c[0], s.At) }

// Describe returns the name.
func (s *SingleRow) Describe() string { return "SingleRow()" }

package plan

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Filter keeps the rows for which Condition is TRUE.
type Filter struct {
	Input     Node
	Condition expr.Expr
}

// NewFilter returns a filter over in.
func NewFilter(in Node, condition expr.Expr) *Filter { return &Filter{in, condition} }

// Schema returns the input's columns.
func (f *Filter) Schema() types.Schema { return f.Input.Schema() }

// Children returns the input.
func (f *Filter) Children() []Node { return []Node{f.Input} }

// WithChildren returns the filter over another input.
func (f *Filter) WithChildren(c []Node) Node { return NewFilter(c[0], f.Condition) }

// Describe returns the condition.
func (f *Filter) Describe() string { return "Filter(condition=[" + expr.String(f.Condition) + "])" }

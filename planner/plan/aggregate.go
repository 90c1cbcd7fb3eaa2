package plan

import (
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Aggregate groups rows by Keys; the columns are the keys, then one a call. Without keys there is exactly
// one group, also for no rows. Without calls it is DISTINCT.
type Aggregate struct {
	Input  Node
	Keys   []expr.Expr
	Aggs   []*expr.AggCall
	schema types.Schema
}

// NewAggregate returns an aggregation of in; names are those of the keys and the calls.
func NewAggregate(in Node, keys []expr.Expr, aggs []*expr.AggCall, names []string) *Aggregate {
	a := &Aggregate{Input: in, Keys: keys, Aggs: aggs}
	a.schema.Columns = make([]types.Column, 0, len(names))
	for i, k := range keys {
		a.schema.Columns = append(a.schema.Columns, types.Column{Name: names[i], Type: k.Type()})
	}
	for i, c := range aggs {
		a.schema.Columns = append(a.schema.Columns, types.Column{Name: names[len(keys)+i], Type: c.T})
	}
	return a
}

// NewDistinct returns the distinct rows of in.
func NewDistinct(in Node) *Aggregate {
	keys, names := Columns(in, Width(in))
	return NewAggregate(in, keys, nil, names)
}

// Schema returns keys and results.
func (a *Aggregate) Schema() types.Schema { return a.schema }

// Children returns the input.
func (a *Aggregate) Children() []Node { return []Node{a.Input} }

// WithChildren returns the aggregation of another input.
func (a *Aggregate) WithChildren(c []Node) Node { return &Aggregate{c[0], a.Keys, a.Aggs, a.schema} }

// Describe returns keys and calls.
func (a *Aggregate) Describe() string {
	var parts []string
	if len(a.Keys) > 0 {
		parts = append(parts, "groupBy=["+strings.Join(texts(a.Keys), ", ")+"]")
	}
	if len(a.Aggs) > 0 {
		calls := make([]string, len(a.Aggs))
		for i, c := range a.Aggs {
			calls[i] = named(expr.AggString(c), a.schema.Columns[len(a.Keys)+i].Name)
		}
		parts = append(parts, "select=["+strings.Join(calls, ", ")+"]")
	}
	return "Aggregate(" + strings.Join(parts, ", ") + ")"
}

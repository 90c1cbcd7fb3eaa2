package plan

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Values gives constant rows. Without columns it gives rows of nothing, as for SELECT without FROM.
type Values struct {
	Batches []*column.Batch // dense, never changed
	schema  types.Schema
}

// NewValues returns rows of the given columns.
func NewValues(columns []types.Column, batches []*column.Batch) *Values {
	return &Values{Batches: batches, schema: types.Schema{Columns: columns}}
}

// OneRow returns a single row without columns.
func OneRow() *Values { return NewValues(nil, []*column.Batch{{N: 1}}) }

// Rows returns the number of rows.
func (v *Values) Rows() int64 {
	n := int64(0)
	for _, b := range v.Batches {
		n += int64(b.N)
	}
	return n
}

// Schema returns the columns.
func (v *Values) Schema() types.Schema { return v.schema }

// Children returns nil.
func (v *Values) Children() []Node { return nil }

// WithChildren returns v.
func (v *Values) WithChildren([]Node) Node { return v }

// shownTuples is how many rows of a Values EXPLAIN spells out.
const shownTuples = 5

// Describe returns the first few rows and how many there are.
func (v *Values) Describe() string {
	var tuples []string
	for _, b := range v.Batches {
		for i := 0; i < b.N && len(tuples) <= shownTuples; i++ {
			if len(tuples) == shownTuples {
				tuples = append(tuples, "…")
				break
			}
			cells := make([]string, len(b.Cols))
			for c, vec := range b.Cols {
				cells[c] = literalText(vec, i)
			}
			tuples = append(tuples, "("+strings.Join(cells, ", ")+")")
		}
	}
	return fmt.Sprintf("Values(rows=[%d], tuples=[%s])", v.Rows(), strings.Join(tuples, ", "))
}

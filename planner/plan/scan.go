package plan

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Table is a table as binding found it.
type Table struct {
	ID  connector.ObjectIdentifier
	Def *catalog.CatalogTable
	// Columns are those that can be read from the store: the physical ones, then the metadata columns.
	Columns  []types.Column
	StoreKey string // names the store that its rows live in
	// Pushes reports whether the table applies a filter over Columns itself; nil when it
	// applies none. It may be asked only while planning.
	Pushes func(expr.Expr) bool
}

// Scan reads a table.
type Scan struct {
	Table   *Table
	Columns []int       // positions in Table.Columns
	Filters []expr.Expr // over Table.Columns; a Filter above applies them again
	Limit   int64       // -1: none
	schema  types.Schema
}

// NewScan returns a scan of the given columns of a table.
func NewScan(t *Table, columns []int, filters []expr.Expr, limit int64) *Scan {
	s := &Scan{Table: t, Columns: columns, Filters: filters, Limit: limit}
	s.schema.Columns = make([]types.Column, len(columns))
	for i, c := range columns {
		s.schema.Columns[i] = t.Columns[c]
	}
	return s
}

// Schema returns the columns read.
func (s *Scan) Schema() types.Schema { return s.schema }

// Children returns nil.
func (s *Scan) Children() []Node { return nil }

// WithChildren returns s.
func (s *Scan) WithChildren([]Node) Node { return s }

// Describe returns the table, the columns and what is pushed into the store.
func (s *Scan) Describe() string {
	d := fmt.Sprintf("TableScan(table=[[%s, %s, %s]], fields=[%s]", s.Table.ID.Catalog, s.Table.ID.Database, s.Table.ID.Object,
		strings.Join(s.schema.Names(), ", "))
	if len(s.Filters) > 0 {
		d += ", filter=[" + strings.Join(texts(s.Filters), " AND ") + "]"
	}
	if s.Limit >= 0 {
		d += fmt.Sprintf(", limit=[%d]", s.Limit)
	}
	return d + ")"
}

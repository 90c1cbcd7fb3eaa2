package job

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// Table names a table in a graph: its identifier, its catalog by position in Graph.Catalogs, and its
// flat property map.
type Table struct {
	Identifier connector.ObjectIdentifier `json:"identifier"`
	Catalog    int                        `json:"catalog"`
	Properties map[string]string          `json:"properties"`
}

// Scan reads a table.
type Scan struct {
	Table   Table  `json:"table"`
	Columns []int  `json:"columns"` // positions in the table's schema
	Filters []Expr `json:"filters,omitempty"`
	Limit   int64  `json:"limit"` // -1: none

	Names []string `json:"names"` // the columns' names, for EXPLAIN and errors
}

// Op returns "scan".
func (*Scan) Op() string { return "scan" }

// Describe returns the table, the columns read and what is pushed into the store.
func (s *Scan) Describe() string {
	d := fmt.Sprintf("Scan %s [%s]", s.Table.Identifier, strings.Join(s.Names, ", "))
	if len(s.Filters) > 0 {
		d += fmt.Sprintf(" filters=[%s]", describe(s.Filters))
	}
	if s.Limit >= 0 {
		d += fmt.Sprintf(" limit=%d", s.Limit)
	}
	return d
}

// Values yields constant rows: encoded batches (column.EncodeBatch).
type Values struct {
	Batches [][]byte `json:"batches"`
	Rows    int64    `json:"rows"`
}

// Op returns "values".
func (*Values) Op() string { return "values" }

// Describe returns the number of rows.
func (v *Values) Describe() string { return fmt.Sprintf("Values %d rows", v.Rows) }

package catalog

import (
	"slices"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// TableKind tells tables from views.
type TableKind string

// The kinds.
const (
	KindTable TableKind = "TABLE"
	KindView  TableKind = "VIEW"
)

// CatalogTable is the resolved definition of a table or view. It is never changed once it is in a catalog.
type CatalogTable struct {
	Kind TableKind
	// Schema has the physical columns, those that the store keeps, and the primary key. Of a view made by
	// CREATE VIEW it has all columns.
	Schema  types.Schema
	Comment string
	Options map[string]string
	// Virtual are the computed and metadata columns, by Position.
	Virtual []VirtualColumn
	// Watermark is nil when the table declares none.
	Watermark     *Watermark
	PartitionKeys []string
	// Distribution is nil when the table declares none.
	Distribution *Distribution
	// View is the query of a view made by CREATE VIEW; nil for a table and for a store's own view, which is
	// read like a table.
	View *View
	// NativeText is the store's own definition of a native view or table, for SHOW CREATE; not serialised.
	NativeText string
	// ReadOnly names columns that the store computes itself; they are readable, not writable.
	ReadOnly []string
	// Defaults names columns that have a default of the store's own.
	Defaults []string
}

// VirtualColumn is a column that is computed when the table is read, or that its connector fills with
// metadata. Exactly one of Expr and Key is given.
type VirtualColumn struct {
	Name string
	// Position is the column's index among all declared columns.
	Position int
	Type     types.Type
	Comment  string
	// Expr is the SQL text of a computed column.
	Expr string
	// Key is the connector's key of a metadata column.
	Key string
	// Stored says that a metadata column is written too: METADATA without VIRTUAL.
	Stored bool
}

// Watermark declares the time attribute of a table and how far its rows may be late.
type Watermark struct {
	Column string
	Expr   string // SQL text
	Type   types.Type
}

// Distribution says how the rows of a table are spread over buckets.
type Distribution struct {
	Kind    string // "HASH", "RANGE", or "" where the connector chooses
	Columns []string
	Buckets int // 0 where the connector chooses
}

// View is the query of a view: as written, and with full names and '*' expanded, which alone is bound.
type View struct{ Original, Expanded string }

// Column is a declared column; Virtual is nil for a physical one.
type Column struct {
	types.Column
	Virtual *VirtualColumn
}

// Columns returns all declared columns in order.
func (t *CatalogTable) Columns() []Column {
	all := make([]Column, 0, len(t.Schema.Columns)+len(t.Virtual))
	physical, virtual := t.Schema.Columns, t.Virtual
	for len(physical) > 0 || len(virtual) > 0 {
		if len(virtual) > 0 && (virtual[0].Position <= len(all) || len(physical) == 0) {
			v := &virtual[0]
			all = append(all, Column{types.Column{Name: v.Name, Type: v.Type, Comment: v.Comment}, v})
			virtual = virtual[1:]
			continue
		}
		all = append(all, Column{Column: physical[0]})
		physical = physical[1:]
	}
	return all
}

// Def returns the definition a connector opens the table with: the physical columns, then one column for
// each metadata column.
func (t *CatalogTable) Def(id connector.ObjectIdentifier) connector.TableDef {
	def := connector.TableDef{Identifier: id, Schema: t.Schema, Options: t.Options, PartitionKeys: t.PartitionKeys}
	for _, v := range t.Virtual {
		if v.Key == "" {
			continue
		}
		if def.Metadata == nil {
			def.Schema.Columns = append([]types.Column{}, t.Schema.Columns...)
		}
		def.Schema.Columns = append(def.Schema.Columns, types.Column{Name: v.Name, Type: v.Type, Comment: v.Comment})
		def.Metadata = append(def.Metadata, v.Key)
	}
	return def
}

// Persisted returns the positions, in the columns of Def, of those that rows are written with: all physical
// ones but the read-only, then the metadata columns that are not VIRTUAL.
func (t *CatalogTable) Persisted() []int {
	var at []int
	for i, c := range t.Schema.Columns {
		if !slices.Contains(t.ReadOnly, c.Name) {
			at = append(at, i)
		}
	}
	metadata := len(t.Schema.Columns)
	for _, v := range t.Virtual {
		if v.Key == "" {
			continue
		}
		if v.Stored {
			at = append(at, metadata)
		}
		metadata++
	}
	return at
}

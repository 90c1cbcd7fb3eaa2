package catalog

import (
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

// CatalogTable is the resolved definition of a table, or of a store's own view (which is read like a
// table).
type CatalogTable struct {
	Kind    TableKind
	Schema  types.Schema
	Comment string
	Options map[string]string
	// NativeText is the store's own definition of a native view or table, for SHOW CREATE; not serialised.
	NativeText string
	// ReadOnly names columns that the store computes itself; they are readable, not writable.
	ReadOnly []string
	// Defaults names columns that have a default of the store's own.
	Defaults []string
}

// Def returns the definition a connector opens the table with.
func (t *CatalogTable) Def(id connector.ObjectIdentifier) connector.TableDef {
	return connector.TableDef{Identifier: id, Schema: t.Schema, Options: t.Options}
}

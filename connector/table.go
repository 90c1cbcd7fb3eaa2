package connector

import (
	"context"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// TableDef is the definition a table is opened with: its name, its schema and its options, secrets in
// clear. Schema has the physical columns, and behind them one column for each metadata column.
type TableDef struct {
	Identifier ObjectIdentifier
	Schema     types.Schema
	Options    map[string]string
	// Metadata are the keys of the last columns of Schema.
	Metadata []string
	// PartitionKeys names the columns of PARTITIONED BY.
	PartitionKeys []string
}

// FileKeeper is a Factory whose tables are kept in database files.
type FileKeeper interface {
	// Files returns the paths of the files that a table is in, which need not be there. It opens none.
	Files(TableDef) []string
}

// MetadataReader is a Factory whose tables can have metadata columns.
type MetadataReader interface {
	// Metadata lists what the connector knows of a row beside its physical columns.
	Metadata() []MetadataColumn
}

// MetadataColumn is a metadata key of a connector.
type MetadataColumn struct {
	Key  string
	Type types.Type
	Doc  string
}

// Table is an opened table. What it can do beyond is said by the further interfaces Scannable,
// Writable and FilterPushDown.
type Table interface {
	Close() error
}

// Scannable is a table that can be read.
type Scannable interface {
	// Source returns a new source; it opens nothing before Splits.
	Source(ctx context.Context, scan Scan) (Source, error)
}

// FilterPushDown is a table that applies some filters itself, exactly.
type FilterPushDown interface {
	// PushFilter reports whether the table would apply this conjunct over its whole schema.
	PushFilter(e expr.Expr) bool
}

// Writable is a table that can be written.
type Writable interface {
	// Transaction returns a new transaction that inserts rows of the given columns (positions in the
	// schema, in the order the batches have them).
	Transaction(ctx context.Context, insert Insert) (Transaction, error)
}

// Insert says how rows are put into a table.
type Insert struct {
	// Columns are the positions, in the table's schema, of the batches' columns. Columns left out get
	// the store's own default where the table has one, else NULL.
	Columns []int
	// ReadsSame says that the same job also reads a table of the store named by Transaction.Key.
	ReadsSame bool
	// ReadsTarget says that the same job also reads the table itself, or perhaps does: what it writes in place of
	// all rows may have been computed from them.
	ReadsTarget bool
	// Overwrite says that the rows written take the place of all that the table has, in the same atomic step
	// (INSERT OVERWRITE); only where the table is an Overwriter. With ReadsTarget the job reads the table after
	// Begin, which keeps others from changing it; or if they have, nothing is committed.
	Overwrite bool
}

// Factory opens the tables of one connector.
type Factory interface {
	// Identifier is the value of the 'connector' option.
	Identifier() string
	// Options are the options a table may have; the same list drives checks, help and masking.
	Options() []Option
	// Table opens a table. Options have been checked against Options.
	Table(ctx context.Context, def TableDef, env *Env) (Table, error)
}

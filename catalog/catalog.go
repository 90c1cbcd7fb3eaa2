package catalog

import (
	"context"
	"errors"

	"github.com/sluice-sql/sluice/connector"
)

// Sentinels a catalog returns; wrap them with the name at hand.
var (
	// ErrDatabaseNotExist: the database named is not there.
	ErrDatabaseNotExist = errors.New("database does not exist")
	// ErrDatabaseAlreadyExist: CREATE DATABASE of a name that is taken.
	ErrDatabaseAlreadyExist = errors.New("database already exists")
	// ErrDatabaseNotEmpty: DROP DATABASE without CASCADE of one that has tables.
	ErrDatabaseNotEmpty = errors.New("database is not empty")
	// ErrTableNotExist: the table or view named is not there.
	ErrTableNotExist = errors.New("table or view does not exist")
	// ErrBrokenView is of a view of the store's own that the store itself cannot read.
	ErrBrokenView = errors.New("view is broken")
	// ErrTableAlreadyExist: the name of the table to create is taken.
	ErrTableAlreadyExist = errors.New("table or view already exists")
)

// ObjectPath is database.object within a catalog.
type ObjectPath struct{ Database, Object string }

// Database describes a database.
type Database struct {
	Comment string
	Options map[string]string
}

// Purpose says for what a table is checked or staged, as Flink's StagingPurpose.
type Purpose string

// The purposes.
const (
	CreateTable              Purpose = "CREATE_TABLE"
	CreateTableAs            Purpose = "CREATE_TABLE_AS"
	CreateTableAsIfNotExists Purpose = "CREATE_TABLE_AS_IF_NOT_EXISTS"
	ReplaceTableAs           Purpose = "REPLACE_TABLE_AS"
	CreateOrReplaceTableAs   Purpose = "CREATE_OR_REPLACE_TABLE_AS"
)

// Replaces reports whether a table that has the name gives way to the new one.
func (p Purpose) Replaces() bool { return p == ReplaceTableAs || p == CreateOrReplaceTableAs }

// ErrTableChanged: the table to replace is, at the commit, no longer the one that Begin found.
var ErrTableChanged = errors.New("table was changed by another session")

// Clause is a part of CREATE TABLE that a catalog may or may not be able to store.
type Clause uint16

// The clauses. Physical columns, NOT NULL and PRIMARY KEY every catalog stores.
const (
	StoresComment Clause = 1 << iota
	StoresOptions
	StoresComputed
	StoresMetadata
	StoresWatermark
	StoresPartitions
	StoresDistribution
	StoresView // CREATE VIEW: a CatalogTable of KindView with a View
)

// Guarantee is what a sink gives for a write in batch mode.
type Guarantee string

// The guarantees.
const (
	Atomic  Guarantee = "atomic"  // all or nothing, isolated, crash-safe
	Visible Guarantee = "visible" // rows become visible as they are written
)

// Mapping is how one column is stored.
type Mapping struct {
	Column string
	Type   string // the SQL type
	Stored string // the store's declared type, or how the value is kept
}

// Check is the answer to "what would happen": what the target would be, without touching it.
type Check struct {
	DDL       string // the target's own DDL; empty where it has none
	Mapping   []Mapping
	Guarantee Guarantee
	Reason    string // why this guarantee, in a sentence
	Notes     []string
}

// ColumnError says that a catalog cannot store a column; planning reports it at the column.
type ColumnError struct {
	Column string
	Msg    string
}

// Error returns the message.
func (e *ColumnError) Error() string { return e.Msg }

// StagedTable is the invisible table that a CREATE TABLE AS fills: a Transaction whose Begin makes the
// table and whose Commit publishes rows and registration together. Commit returns NotDone with
// ErrTableAlreadyExist when a rival has taken the name.
type StagedTable interface{ connector.Transaction }

// SelfReader is a StagedTable that may see to it that the table whose place it takes is as the job has read it.
type SelfReader interface {
	// ReadsTarget says, before Begin, that the job reads that table after Begin. From then on others cannot write it, or
	// Commit is NotDone if they have.
	ReadsTarget()
}

// Catalog is a named set of databases and tables. Its methods may be called from several goroutines.
// Names are compared exactly as stored.
type Catalog interface {
	// Open checks that the catalog can be reached. It creates nothing.
	Open(ctx context.Context) error
	Close() error
	DefaultDatabase() string

	ListDatabases(ctx context.Context) ([]string, error)
	// Database returns ErrDatabaseNotExist where there is none.
	Database(ctx context.Context, name string) (*Database, error)
	CreateDatabase(ctx context.Context, name string, db Database) error
	// DropDatabase drops a database, and with cascade its tables.
	DropDatabase(ctx context.Context, name string, cascade bool) error
	// AlterDatabase replaces what describes a database.
	AlterDatabase(ctx context.Context, name string, db Database) error

	// ListTables returns the names of tables and views, sorted.
	ListTables(ctx context.Context, database string) ([]string, error)
	// Table returns a table's or view's resolved definition, or ErrTableNotExist. When only the case of
	// the name differs from a stored one the error says so.
	Table(ctx context.Context, path ObjectPath) (*CatalogTable, error)
	// CreateTable makes an empty table, or a view when the catalog stores views. created is true when this very call made it; identity tells it
	// from a later table of the same name.
	CreateTable(ctx context.Context, path ObjectPath, table *CatalogTable) (created bool, identity string, err error)
	// DropTable drops a table or view; with an identity other than "" only if that is still what it is.
	DropTable(ctx context.Context, path ObjectPath, identity string) error
	// AlterTable makes the table or view that is old into the new one; changes say how the one came from
	// the other, in order. All or nothing: what the store cannot do is refused with a *ChangeError before
	// anything is changed. A table that is no longer what old says is left alone, with an error.
	AlterTable(ctx context.Context, path ObjectPath, old, new *CatalogTable, changes []TableChange) error
	// RenameTable gives a table or view another name in its database, ErrTableAlreadyExist when that is taken.
	RenameTable(ctx context.Context, path ObjectPath, newName string) error

	// Check has no side effect. It returns ErrTableAlreadyExist when the name is taken and *ColumnError
	// for a column that cannot be stored. For ReplaceTableAs a table has to be there, else it is
	// ErrTableNotExist; for this and CreateOrReplaceTableAs what would be lost with the old table (views and foreign keys on it,
	// indexes, triggers, grants, comments) is an error that names it.
	Check(ctx context.Context, path ObjectPath, table *CatalogTable, purpose Purpose) (*Check, error)
	// Stage returns the staged table of a CREATE TABLE AS or of one that replaces; nothing happens before its
	// Begin. readsSame says that the job also reads a table of the same store. One that replaces leaves the old
	// table as it is up to its Commit, which is NotDone with ErrTableChanged when that is not the one of Begin.
	Stage(ctx context.Context, path ObjectPath, table *CatalogTable, purpose Purpose, readsSame bool) (StagedTable, error)
	// Stores says which clauses of CREATE TABLE the catalog keeps.
	Stores() Clause
	// Factory opens the catalog's own tables, those without a 'connector' option; nil when it has none.
	Factory() connector.Factory
	// StoreKey names the store a table's rows live in, as Transaction.Key does.
	StoreKey(path ObjectPath) string
}

// Decision is what recovery makes of a leftover.
type Decision uint8

// The decisions.
const (
	Keep   Decision = iota // owner may live, or nothing is known: leave it alone
	Remove                 // the owner is dead and did not decide to commit
)

// Report is what a sweep did.
type Report struct{ Removed, Kept []string }

// Sweeper is a catalog that keeps staging objects which a crash may leave behind.
type Sweeper interface {
	// Sweep removes the staging of jobs that are proved dead and that decide does not keep.
	Sweep(ctx context.Context, decide func(connector.JobID) Decision) (Report, error)
}

// Resolver is a catalog whose store can be asked what became of a commit.
type Resolver interface {
	// Outcome asks the store by what an Evident transaction of this catalog has noted. It waits while the
	// transaction is still open there, within ctx. Unknown with an error says why it cannot be told;
	// when it is connector.ErrUntold there is no use in asking again.
	Outcome(ctx context.Context, evidence string) (connector.Outcome, error)
}

// ViewDropper is a catalog whose views are the store's own, and can be dropped.
type ViewDropper interface {
	// DropView drops a view, also one of which Table says [ErrBrokenView].
	DropView(ctx context.Context, path ObjectPath) error
}

// Prober is a catalog that can look at its store when it is created, so that a slip is found out then.
type Prober interface {
	// Probe returns the error of a store that can be no catalog. It does not wait for one that is locked.
	Probe(ctx context.Context) error
	// Missing says that the store is not there yet, and what makes it; "" when it is there.
	Missing() string
}

// FileKeeper is a catalog that keeps its tables in database files.
type FileKeeper interface {
	// Files returns the paths of the files, which need not be there yet. It opens none.
	Files() []string
}

// ViewLister is a catalog that tells its views from its tables without looking at each.
type ViewLister interface {
	// ListViews returns the names of the views, sorted.
	ListViews(ctx context.Context, database string) ([]string, error)
}

// Busy is a catalog that lives in the process and so cannot go while a job writes to it.
type Busy interface {
	// Busy returns an error that names the job, or nil.
	Busy() error
}

// Factory makes catalogs of one type.
type Factory interface {
	// Type is the value of the 'type' property.
	Type() string
	Options() []connector.Option
	// Catalog makes an instance from a name and its properties, which have been checked against
	// Options. It does not open it. Relative paths in properties are resolved by Resolve beforehand.
	// r has the environment, and opens the tables of connectors for a catalog that writes such itself.
	Catalog(name string, properties map[string]string, r *Registry) (Catalog, error)
	// Resolve returns the properties as they are to be kept: relative paths made absolute.
	Resolve(properties map[string]string) (map[string]string, error)
	// Serialized reports whether name and properties suffice to reach the same data elsewhere. When
	// false (generic_in_memory) a job finds the live instance by name.
	Serialized() bool
}

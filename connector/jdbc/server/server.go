package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Config says which server, as whom, and how it is used.
type Config struct {
	Host     string
	Port     int // 0: the dialect's own
	User     string
	Password connector.Secret
	// Parameters are those of the address's query; the dialect has checked them by Dialect.CheckParameter.
	Parameters map[string]string
	// Options are the catalog's or table's, among them the dialect's own.
	Options map[string]string
	Env     *connector.Env
}

// Dialect is the entry of a kind of server.
type Dialect interface {
	// Name is as in jdbc:NAME://…; Aliases are other ones for the same.
	Name() string
	Aliases() []string
	DefaultPort() int
	// SystemDatabase is one that every server has, "" where a connection needs none.
	SystemDatabase() string
	// Options are those of a catalog or table of this dialect beside the connector's.
	Options() []connector.Option
	// CheckParameter says what is wrong with a parameter of an address, "" if nothing.
	CheckParameter(key, value string) string
	// Server makes the access to a server; nothing is opened.
	Server(Config) Server
	// TypeTable lists how types are kept and read, for the documents.
	TypeTable() []TypeMapping
}

// TypeMapping is a line of a dialect's type table.
type TypeMapping struct {
	SQL    string // the SQL type that is written, or "" when it is only read
	Stored string // the server's type
	Read   string // the SQL type it is read as
	Notes  string
}

// Server is one server as one user. It is used by several goroutines. No session is open between calls, but for those
// that transactions and sources hold.
//
// Every wait ends with ctx, and what runs on the server for it ends at once, too.
type Server interface {
	// Key names server and user for Transaction.Key, without a secret.
	Key() string
	// Ping makes sure that a database can be reached as this user.
	Ping(ctx context.Context, database string) error
	Close() error

	ListDatabases(ctx context.Context) ([]string, error)
	CreateDatabase(ctx context.Context, name string) error
	// DropDatabase returns ErrNotEmpty for one with tables unless cascade is set.
	DropDatabase(ctx context.Context, name string, cascade bool) error

	// ListTables returns the names of tables and views, ListViews those of views, sorted, without ours.
	ListTables(ctx context.Context, database string) ([]string, error)
	ListViews(ctx context.Context, database string) ([]string, error)
	// Describe returns a table or view of exactly this name, nil where there is none. near is a name that differs
	// in case only, or "".
	Describe(ctx context.Context, database, table string) (info *TableInfo, near string, err error)

	// CheckTable says how a table would be declared, without a connection: the DDL, and of each column how it is
	// kept. What the server cannot hold is a *connector.ColumnError or another error.
	CheckTable(table string, def Definition) (ddl string, stored []string, err error)
	// CheckStage says whether a write with this target would be all or nothing, and what stands in its way: an
	// *ExistsError, ErrNotThere, or an error that names what would be lost. It has no side effect.
	CheckStage(ctx context.Context, target Target) (reason string, notes []string, err error)
	// CreateTable makes an empty table; identity tells it from a later one.
	CreateTable(ctx context.Context, database, table string, def Definition) (identity string, err error)
	// DropTable drops a table: any, or the one of an identity, else ErrChanged. ErrNotThere where there is none.
	DropTable(ctx context.Context, database, table, identity string) error
	DropView(ctx context.Context, database, view string) error
	RenameTable(ctx context.Context, database, table, newName string) error

	// OpenTable opens a table whose columns are matched by name and read as the schema types them. The Table is
	// Scannable, FilterPushDown, Writable, Overwriter, Truncater, Upserter and Modifiable.
	OpenTable(ctx context.Context, database, table string, schema types.Schema) (connector.Table, error)
	// Stage returns the transaction of a table that is made or replaced.
	Stage(target Target) connector.Transaction
	// Sweep removes the staging of dead jobs in a database, see catalog.Sweeper.
	Sweep(ctx context.Context, database string, keep func(connector.JobID) bool) (removed, kept []string, err error)
	// Outcome is that of catalog.Resolver, for evidence of a transaction of this dialect in a database.
	Outcome(ctx context.Context, database, evidence string) (connector.Outcome, error)
}

// Definition is what a server keeps of a table.
type Definition struct {
	Schema  types.Schema
	Comment string
	// Comments are those of columns, by name.
	Comments map[string]string
}

// Mode says how a table comes to be.
type Mode uint8

// The modes of a Target.
const (
	Create          Mode = iota // the name has to be free
	Replace                     // the table has to be there, and gives way at the commit
	CreateOrReplace             // either
)

// Target is a table to be made by a Transaction.
type Target struct {
	Database, Table string
	Definition      Definition
	Mode            Mode
}

// TableInfo is a table or view as the server has it.
type TableInfo struct {
	View     bool
	Schema   types.Schema
	Comment  string
	Comments map[string]string
	// Text is the server's own statement, as far as it tells it.
	Text string
	// Defaults are the columns to which the server gives a value in a row that comes without, ReadOnly those that
	// it computes.
	Defaults, ReadOnly []string
	Identity           string
}

// The sentinels of a Server.
var (
	ErrNotEmpty = errors.New("database is not empty")
	ErrNotThere = errors.New("table does not exist")
	ErrChanged  = errors.New("table was changed by another session")
	// ErrNoDatabase: the database named is not there.
	ErrNoDatabase = errors.New("database does not exist")
)

// NotEmptyError says what a database to drop has. It is an ErrNotEmpty.
type NotEmptyError struct{ Has []string }

// Error names some of it.
func (e *NotEmptyError) Error() string { return ErrNotEmpty.Error() + ": it has " + e.Names() }

// Names are the first few, and how many more there are.
func (e *NotEmptyError) Names() string {
	const most = 3
	if len(e.Has) <= most {
		return strings.Join(e.Has, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(e.Has[:most], ", "), len(e.Has)-most)
}

// Unwrap returns the sentinel.
func (e *NotEmptyError) Unwrap() error { return ErrNotEmpty }

// ExistsError says that a name is taken.
type ExistsError struct{ Table, Taken, Kind string }

// Error names the object that has the name.
func (e *ExistsError) Error() string {
	if e.Taken == "" || e.Taken == e.Table {
		return e.Kind + " " + e.Table + " already exists"
	}
	return e.Kind + " " + e.Taken + " already exists, and the server does not tell it from " + e.Table
}

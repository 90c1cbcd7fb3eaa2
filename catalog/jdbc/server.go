package jdbc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

var (
	_ catalog.Sweeper     = (*Server)(nil)
	_ catalog.Resolver    = (*Server)(nil)
	_ catalog.ViewLister  = (*Server)(nil)
	_ catalog.ViewDropper = (*Server)(nil)
	_ catalog.Prober      = (*Server)(nil)
	_ catalog.FileKeeper  = (*Server)(nil)
)

// Server is the databases and tables of a database server, as one user. It holds no session: each call asks the
// server, so that it always says what is there now.
type Server struct {
	name       string
	address    jdbc.Address
	properties map[string]string
	server     server.Server
}

// probeLimit is how long CREATE CATALOG waits for the server.
const probeLimit = 5 * time.Second

// Open does nothing: a server is found to be away when it is used, by Probe at the latest.
func (c *Server) Open(context.Context) error { return nil }

// Close frees the access to the server.
func (c *Server) Close() error { return c.server.Close() }

// where names the server and the user for messages.
func (c *Server) where() string {
	return c.address.String() + " as " + c.properties["username"]
}

// Probe makes sure that the server answers to this user, and has the default database.
func (c *Server) Probe(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	err := c.server.Ping(limited, c.DefaultDatabase())
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		// The limit's own error is a cancel of nobody's.
		return fmt.Errorf("cannot reach %s: no answer within %d seconds", c.where(), int(probeLimit.Seconds()))
	case errors.Is(err, server.ErrNoDatabase):
		return fmt.Errorf("cannot reach %s: there is no database %s", c.where(), c.DefaultDatabase())
	}
	return fmt.Errorf("cannot reach %s: %w", c.where(), err)
}

// Missing is never so: a server is there, or the catalog cannot be created.
func (c *Server) Missing() string { return "" }

// Files returns none: a server keeps its files itself.
func (c *Server) Files() []string { return nil }

// Stores: a server keeps columns, NOT NULL, PRIMARY KEY and comments.
func (c *Server) Stores() catalog.Clause { return catalog.StoresComment }

// Factory opens the catalog's own tables.
func (c *Server) Factory() connector.Factory { return serverTables{c} }

// StoreKey names the server and the user, as the key of a transaction there does.
func (c *Server) StoreKey(catalog.ObjectPath) string { return c.server.Key() }

// DefaultDatabase is the option's, or that of the address, or the one that every server of the kind has; "" where
// there is no such.
func (c *Server) DefaultDatabase() string {
	for _, name := range []string{c.properties["default-database"], c.address.Database} {
		if name != "" {
			return name
		}
	}
	return c.address.Server.SystemDatabase()
}

// ListDatabases returns the databases' names, sorted.
func (c *Server) ListDatabases(ctx context.Context) ([]string, error) {
	return c.server.ListDatabases(ctx)
}

// Database describes a database.
func (c *Server) Database(ctx context.Context, name string) (*catalog.Database, error) {
	names, err := c.server.ListDatabases(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, name) {
		return nil, c.noDatabase(name)
	}
	return &catalog.Database{}, nil
}

func (c *Server) noDatabase(name string) error {
	return &fault{fmt.Sprintf("database %s does not exist in catalog %s", name, c.name), catalog.ErrDatabaseNotExist}
}

// CreateDatabase makes a database on the server.
func (c *Server) CreateDatabase(ctx context.Context, name string, db catalog.Database) error {
	if db.Comment != "" || len(db.Options) > 0 {
		return errors.New("a jdbc catalog keeps no comment and no properties of a database")
	}
	if err := checkServerName("database", name); err != nil {
		return err
	}
	err := c.server.CreateDatabase(ctx, name)
	var exists *server.ExistsError
	if errors.As(err, &exists) {
		return &fault{fmt.Sprintf("database %s already exists in catalog %s", name, c.name), catalog.ErrDatabaseAlreadyExist}
	}
	return err
}

// DropDatabase drops a database of the server.
func (c *Server) DropDatabase(ctx context.Context, name string, cascade bool) error {
	err := c.server.DropDatabase(ctx, name, cascade)
	var has *server.NotEmptyError
	if errors.As(err, &has) {
		return &fault{fmt.Sprintf("database %s is not empty, it has %s; drop that first, or write CASCADE", name, has.Names()), catalog.ErrDatabaseNotEmpty}
	}
	if errors.Is(err, server.ErrNotEmpty) {
		return &fault{fmt.Sprintf("database %s has tables; drop them first, or write CASCADE", name), catalog.ErrDatabaseNotEmpty}
	}
	return c.said(catalog.ObjectPath{Database: name}, err)
}

// AlterDatabase refuses: nothing is kept that describes a database.
func (c *Server) AlterDatabase(context.Context, string, catalog.Database) error {
	return errors.New("a jdbc catalog keeps no comment and no properties of a database, so there is nothing to alter")
}

// ListTables returns the names of tables and views, sorted.
func (c *Server) ListTables(ctx context.Context, database string) ([]string, error) {
	names, err := c.server.ListTables(ctx, database)
	return names, c.said(catalog.ObjectPath{Database: database}, err)
}

// ListViews returns the names of views, sorted.
func (c *Server) ListViews(ctx context.Context, database string) ([]string, error) {
	names, err := c.server.ListViews(ctx, database)
	return names, c.said(catalog.ObjectPath{Database: database}, err)
}

// Sweep removes the staging of jobs that are dead.
func (c *Server) Sweep(ctx context.Context, decide func(connector.JobID) catalog.Decision) (catalog.Report, error) {
	var report catalog.Report
	databases, err := c.server.ListDatabases(ctx)
	if err != nil {
		return report, nil // whoever uses the catalog is told; no remains are at fault
	}
	var errs []error
	for _, database := range databases {
		removed, kept, err := c.server.Sweep(ctx, database, func(job connector.JobID) bool { return decide(job) != catalog.Remove })
		report.Removed = append(report.Removed, removed...)
		report.Kept = append(report.Kept, kept...)
		if err == nil || errors.Is(err, server.ErrNoDatabase) { // dropped meanwhile
			continue
		}
		// A server that is gone says the same of each database.
		if !slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }) {
			errs = append(errs, err)
		}
	}
	return report, errors.Join(errs...)
}

// Outcome asks the server what became of a commit.
func (c *Server) Outcome(ctx context.Context, evidence string) (connector.Outcome, error) {
	return c.server.Outcome(ctx, c.DefaultDatabase(), evidence)
}

// said puts what the server says of a table or database into the words of package catalog.
func (c *Server) said(path catalog.ObjectPath, err error) error {
	var exists *server.ExistsError
	var column *connector.ColumnError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, server.ErrNoDatabase):
		return c.noDatabase(path.Database)
	case errors.Is(err, server.ErrNotThere):
		return &fault{fmt.Sprintf("table %s does not exist in database %s", path.Object, path.Database), catalog.ErrTableNotExist}
	case errors.Is(err, server.ErrChanged):
		return &fault{fmt.Sprintf("table %s was changed by another session; look at it and try again", path.Object), catalog.ErrTableChanged}
	case errors.As(err, &exists):
		return &fault{exists.Error(), catalog.ErrTableAlreadyExist}
	case errors.As(err, &column):
		return &catalog.ColumnError{Column: column.Column, Msg: err.Error()}
	}
	return err
}

// checkServerName refuses what cannot be a name on any server. What one server cannot have, it says itself.
func checkServerName(what, name string) error {
	bare := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case strings.HasPrefix(bare, "_sluice") || strings.HasPrefix(name, "_sluice"):
		return fmt.Errorf("the name %s is reserved: names that begin with _sluice cannot be created", name)
	case name == "" || strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("%q cannot be a %s's name", name, what)
	}
	return nil
}

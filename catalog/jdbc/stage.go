package jdbc

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// staged is a table that CREATE TABLE AS fills, or that takes the place of another: SQLite's transaction in the
// catalog's words.
type staged struct {
	*sqlite.Transaction
	path catalog.ObjectPath
}

var _ catalog.SelfReader = staged{}

// Stage returns the staged table of a CREATE TABLE AS, or of one that replaces.
func (c *Catalog) Stage(_ context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose, readsSame bool) (catalog.StagedTable, error) {
	s, err := c.store(path.Database)
	if err != nil {
		return nil, err
	}
	if err := checkTable(path.Object, table); err != nil {
		return nil, err
	}
	schema := table.Schema
	tx := sqlite.NewTransaction(sqlite.Target{Store: s, Table: path.Object, Columns: schema.Columns, Create: &schema, Replace: replaceOf(purpose), ReadsSame: readsSame})
	return staged{tx, path}, nil
}

// replaceOf says what a purpose does with a table that is there.
func replaceOf(purpose catalog.Purpose) sqlite.Replace {
	switch purpose {
	case catalog.ReplaceTableAs:
		return sqlite.ReplaceOld
	case catalog.CreateOrReplaceTableAs:
		return sqlite.ReplaceAny
	}
	return sqlite.ReplaceNever
}

// Begin makes the table where nobody sees it.
func (t staged) Begin(ctx context.Context, job connector.JobID) error {
	return t.worded(t.Transaction.Begin(ctx, job))
}

// Commit publishes the table with its rows.
func (t staged) Commit(ctx context.Context) (connector.Outcome, error) {
	out, err := t.Transaction.Commit(ctx)
	return out, t.worded(err)
}

func (t staged) worded(err error) error {
	switch {
	case errors.Is(err, sqlite.ErrNotThere):
		return &fault{fmt.Sprintf("table %s does not exist in database %s any more", t.path.Object, t.path.Database), catalog.ErrTableNotExist}
	case errors.Is(err, sqlite.ErrChanged):
		return &fault{fmt.Sprintf("table %s was changed by another session while the job ran; it stays as it is, and nothing was stored", t.path.Object), catalog.ErrTableChanged}
	}
	return exists(err)
}

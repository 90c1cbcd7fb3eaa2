package jdbc

import (
	"context"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// staged is a table that CREATE TABLE AS fills: SQLite's transaction in the catalog's words.
type staged struct{ *sqlite.Transaction }

// Stage returns the staged table of a CREATE TABLE AS.
func (c *Catalog) Stage(_ context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, _ catalog.Purpose, readsSame bool) (catalog.StagedTable, error) {
	s, err := c.store(path.Database)
	if err != nil {
		return nil, err
	}
	if err := checkTable(path.Object, table); err != nil {
		return nil, err
	}
	schema := table.Schema
	return staged{sqlite.NewTransaction(sqlite.Target{Store: s, Table: path.Object, Columns: schema.Columns, Create: &schema, ReadsSame: readsSame})}, nil
}

// Begin makes the table where nobody sees it.
func (t staged) Begin(ctx context.Context, job connector.JobID) error {
	return exists(t.Transaction.Begin(ctx, job))
}

// Commit publishes the table with its rows.
func (t staged) Commit(ctx context.Context) (connector.Outcome, error) {
	out, err := t.Transaction.Commit(ctx)
	return out, exists(err)
}

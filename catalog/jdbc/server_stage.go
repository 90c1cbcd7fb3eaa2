package jdbc

import (
	"context"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// modeOf says how a table comes to be.
func modeOf(purpose catalog.Purpose) server.Mode {
	switch purpose {
	case catalog.ReplaceTableAs:
		return server.Replace
	case catalog.CreateOrReplaceTableAs:
		return server.CreateOrReplace
	}
	return server.Create
}

// Check says what the target of a CREATE TABLE, or of one that replaces, would be.
func (c *Server) Check(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose) (*catalog.Check, error) {
	def, err := c.definition(path.Object, table)
	if err != nil {
		return nil, err
	}
	if _, _, err := c.server.CheckTable(path.Object, def); err != nil {
		return nil, c.said(path, err)
	}
	reason, notes, err := c.server.CheckStage(ctx, server.Target{Database: path.Database, Table: path.Object, Definition: def, Mode: modeOf(purpose)})
	if err != nil {
		return nil, c.said(path, err)
	}
	// Now the server's kind and version are known, which the statement is of.
	ddl, stored, err := c.server.CheckTable(path.Object, def)
	if err != nil {
		return nil, c.said(path, err)
	}
	check := &catalog.Check{DDL: ddl, Guarantee: catalog.Atomic, Reason: reason, Notes: notes}
	for i, column := range table.Schema.Columns {
		t := column.Type
		for _, k := range table.Schema.PrimaryKey {
			if k == column.Name {
				t = t.AsNotNull()
			}
		}
		check.Mapping = append(check.Mapping, catalog.Mapping{Column: column.Name, Type: t.String(), Stored: stored[i]})
	}
	return check, nil
}

// Stage returns the staged table of a CREATE TABLE AS, or of one that replaces.
func (c *Server) Stage(_ context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose, _ bool) (catalog.StagedTable, error) {
	def, err := c.definition(path.Object, table)
	if err != nil {
		return nil, err
	}
	tx := c.server.Stage(server.Target{Database: path.Database, Table: path.Object, Definition: def, Mode: modeOf(purpose)})
	t := serverStaged{Transaction: tx, c: c, path: path}
	if e, ok := tx.(connector.Evident); ok {
		return evidentStaged{t, e}, nil
	}
	return t, nil
}

// serverStaged is the transaction of a server that makes or replaces a table, in the catalog's words.
type serverStaged struct {
	connector.Transaction
	c    *Server
	path catalog.ObjectPath
}

var _ catalog.SelfReader = serverStaged{}

// ReadsTarget has servers that can keep others from writing the table that is to be replaced.
func (t serverStaged) ReadsTarget() {
	if s, ok := t.Transaction.(catalog.SelfReader); ok {
		s.ReadsTarget()
	}
}

// Begin makes the table where nobody sees it.
func (t serverStaged) Begin(ctx context.Context, job connector.JobID) error {
	return t.c.said(t.path, t.Transaction.Begin(ctx, job))
}

// Commit publishes the table with its rows.
func (t serverStaged) Commit(ctx context.Context) (connector.Outcome, error) {
	out, err := t.Transaction.Commit(ctx)
	return out, t.c.said(t.path, err)
}

// evidentStaged is one that can be asked for later.
type evidentStaged struct {
	serverStaged
	connector.Evident
}

package memory

import (
	"context"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/memory"
)

// reason is why a CREATE TABLE AS or INSERT here is atomic, and how far.
const reason = "published by one swap; the rows live and die with this process"

// Check says what a table would be. It has no DDL of its own.
func (c *Catalog) Check(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose) (*catalog.Check, error) {
	if err := c.check(path, table, purpose); err != nil {
		return nil, err
	}
	if err := c.accepts(path, table); err != nil {
		return nil, err
	}
	if _, foreign := table.Options["connector"]; foreign && purpose != catalog.CreateTable {
		return c.checkForeign(ctx, path, table)
	}
	check := &catalog.Check{Guarantee: catalog.Atomic, Reason: reason}
	for _, col := range table.Schema.Columns {
		check.Mapping = append(check.Mapping, catalog.Mapping{Column: col.Name, Type: col.Type.String(), Stored: col.Type.String()})
	}
	if len(table.Schema.PrimaryKey) > 0 {
		check.Notes = append(check.Notes, "PRIMARY KEY is not enforced in memory: duplicate keys are kept")
	}
	return check, nil
}

// Stage returns the table of a CREATE TABLE AS: its rows are collected aside, and Commit publishes
// them with the registration if the name is free, or in the place of the table that is replaced. ReadsSame makes no difference to them, since readers
// keep their version. The rows of a table with 'connector' go through the connector's own transaction.
func (c *Catalog) Stage(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose, readsSame bool) (catalog.StagedTable, error) {
	if err := c.accepts(path, table); err != nil {
		return nil, err
	}
	if _, foreign := table.Options["connector"]; foreign {
		// One that replaces has been checked: it finds the name free, and then keeps it.
		return c.stageForeign(ctx, path, table, readsSame)
	}
	if purpose.Replaces() {
		return c.stageReplacement(path, table, purpose), nil
	}
	return memory.NewStaging(c.identifier(path), table.Schema, c.budget, func(s *memory.Store) (connector.Outcome, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, err := c.register(path, table, s); err != nil {
			return connector.NotDone, err
		}
		return connector.Done, nil
	}), nil
}

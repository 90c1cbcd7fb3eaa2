package memory

import (
	"context"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/memory"
)

// reason is why a CREATE TABLE AS or INSERT here is atomic, and how far.
const reason = "published by one swap; the rows live and die with this process"

// Check says what a table would be. It has no DDL of its own.
func (c *Catalog) Check(_ context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose) (*catalog.Check, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return nil, c.gone()
	}
	db, err := c.database(path.Database)
	if err != nil {
		return nil, err
	}
	if err := c.free(db, path); err != nil {
		return nil, err
	}
	if err := c.accepts(path, table); err != nil {
		return nil, err
	}
	if purpose != catalog.CreateTable {
		if err := c.stages(path, table); err != nil {
			return nil, err
		}
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

// stages refuses what cannot be built aside here.
func (c *Catalog) stages(path catalog.ObjectPath, table *catalog.CatalogTable) error {
	if name, foreign := table.Options["connector"]; foreign {
		return &connector.OptionError{Key: "connector", Msg: fmt.Sprintf(
			"CREATE TABLE AS of %s with 'connector' = '%s' cannot be made atomic: the catalog keeps only its definition; create the table first, then INSERT INTO it", c.identifier(path), name)}
	}
	return nil
}

// Stage returns the table of a CREATE TABLE AS: its rows are collected aside, and Commit publishes
// them with the registration if the name is free. ReadsSame makes no difference, since readers keep
// their version.
func (c *Catalog) Stage(_ context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, _ catalog.Purpose, _ bool) (catalog.StagedTable, error) {
	if err := c.accepts(path, table); err != nil {
		return nil, err
	}
	if err := c.stages(path, table); err != nil {
		return nil, err
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
